// Trees and nearest neighbors.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"

#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/other_labels.hpp>
#include <kith/tree.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

namespace {

/// Contiguous arrays of rows x k, in the caller's memory.
class RowsOfCaller {
public:
    RowsOfCaller(const std::optional<OutputArray>& distances, const std::optional<OutputArray>& indices,
                 const std::optional<OutputArray>& query_indices, DType of_points, const Device& device)
        : query_indices_(elements<std::int32_t>(query_indices)) {
        take(distances, "the array for distances", device);
        take(indices, "the array for indices", device);
        if (indices && indices->dtype() == nb::dtype<std::int64_t>()) {
            make<std::int64_t>(distances, indices, of_points);
        } else if (!indices || indices->dtype() == nb::dtype<std::int32_t>()) {
            make<std::int32_t>(distances, indices, of_points);
        } else {
            throw nb::type_error("indices must be int32 or int64");
        }
    }
    [[nodiscard]] const NeighborRows& rows() const noexcept { return rows_; }

    /// Throws invalid_argument for an input that overlaps the rows, which are written while it is read.
    void keep_apart_from(const InputArray& input) const {
        for (const MemoryBounds& each : memory_) {
            if (each.overlaps(MemoryBounds::of(input))) {
                refuse_overlap();
            }
        }
    }

private:
    void take(const std::optional<OutputArray>& array, const char* what, const Device& device) {
        if (!array) {
            return;
        }
        require_dense(*array, what);
        require_reach(*array, device, what);
        const MemoryBounds memory = MemoryBounds::of(*array);
        for (const MemoryBounds& other : memory_) {
            if (memory.overlaps(other)) {
                refuse_overlap();
            }
        }
        memory_.push_back(memory);
    }
    [[noreturn]] static void refuse_overlap() {
        throw Error(ErrorKind::invalid_argument,
                    "the arrays in out must not overlap each other, the points or the queries");
    }

    template <class Index>
    void make(const std::optional<OutputArray>& distances, const std::optional<OutputArray>& indices, DType of_points) {
        const DType dtype = !distances                                 ? of_points
                            : distances->dtype() == nb::dtype<float>() ? DType::float32
                            : distances->dtype() == nb::dtype<double>()
                                ? DType::float64
                                : throw nb::type_error("distances must be float32 or float64");
        if (dtype == DType::float32) {
            rows_ = NeighborRows(elements<Index>(indices), elements<float>(distances), query_indices_);
        } else {
            rows_ = NeighborRows(elements<Index>(indices), elements<double>(distances), query_indices_);
        }
    }
    template <class Element>
    static std::span<Element> elements(const std::optional<OutputArray>& array) {
        return array ? std::span<Element>(static_cast<Element*>(array->data_handle()), array->size())
                     : std::span<Element>();
    }

    std::span<std::int32_t> query_indices_; ///< in an array of kith's own
    std::vector<MemoryBounds> memory_;
    NeighborRows rows_;
};

/// A view of a tree's memory: a NumPy array, or on a GPU an object for DLPack.
nb::object positions_view(std::span<const std::int32_t> positions, const Device& device, nb::handle owner) {
    if (device.kind == DeviceKind::cpu) {
        return nb::cast(nb::ndarray<nb::numpy, const std::int32_t>(positions.data(), {positions.size()}, owner));
    }
    return nb::cast(nb::ndarray<const std::int32_t>(positions.data(), {positions.size()}, owner, {},
                                                    nb::dtype<std::int32_t>(), nb::device::cuda::value, device.index));
}

/// Labels of points and of separate queries, of which there are none in a self-search.
struct LabelsOfCaller {
    std::span<const std::int32_t> of_points;
    std::span<const std::int32_t> of_queries;
};

std::optional<LabelsOfCaller> labels_of(const std::optional<InputArray>& points,
                                        const std::optional<InputArray>& queries, const Device& device) {
    const auto numbers = [&](const std::optional<InputArray>& labels) {
        return labels ? numbers_of<const std::int32_t>(*labels, device, "exclude_labels", "int32")
                      : std::span<const std::int32_t>();
    };
    return points ? std::optional(LabelsOfCaller{numbers(points), numbers(queries)}) : std::nullopt;
}

/// Writes rows, and returns the name of the engine that found them. They are in z-order if their queries are wanted.
std::string search(const Call& call, const std::optional<InputArray>& queries, std::int64_t k, bool exclude_self,
                   double max_distance, bool squared, const std::optional<OutputArray>& distances,
                   const std::optional<OutputArray>& indices, const std::optional<OutputArray>& query_indices,
                   const std::optional<InputArray>& labels, const std::optional<InputArray>& labels_of_queries) {
    const PointsOrTree points = call.points();
    const std::optional<PointsView> view = queries_of(queries);
    RowsOfCaller rows(distances, indices, query_indices, points.dtype(), call.device);
    if (call.array() != nullptr) {
        rows.keep_apart_from(*call.array());
    }
    if (queries) {
        rows.keep_apart_from(*queries);
    }
    const std::optional<LabelsOfCaller> others = labels_of(labels, labels_of_queries, call.device);
    const std::int64_t building = points.tree() != nullptr ? 0 : points.count();
    const SearchSummary found = answer(
        call, (view ? view->count() : points.count()) * k + building,
        KnnOptions{.exclude_self = exclude_self,
                   .max_distance = max_distance,
                   .squared = squared,
                   .z_order = query_indices.has_value()},
        [&](const KnnOptions& options) {
            if (others && view) {
                return knn_other_labels_into(rows.rows(), points, others->of_points, *view, others->of_queries, k,
                                             options);
            }
            if (others) {
                return knn_other_labels_into(rows.rows(), points, others->of_points, k, options);
            }
            return view ? knn_into(rows.rows(), points, *view, k, options) : knn_into(rows.rows(), points, k, options);
        });
    warn(call, found.unresolved);
    return name_of(found.engine);
}

} // namespace

void bind_search(nb::module_& module) {
    nb::class_<Tree>(module, "Tree")
        .def(
            "__init__",
            [](Tree* self, const Call& call, std::optional<int> leaf_size, const std::optional<std::string>& form,
               std::optional<std::int64_t> hubs, const std::optional<std::string>& hub_selection,
               std::optional<std::uint64_t> seed) {
                const PointsView points = call.points().points();
                TreeOptions options{.box = call.box, .engine = call.engine};
                int& of_engine = call.engine == Engine::kdtree ? options.kdtree.leaf_size : options.shape.leaf_size;
                of_engine = leaf_size.value_or(of_engine);
                options.clover.hubs = hubs.value_or(options.clover.hubs);
                options.clover.seed = seed.value_or(options.clover.seed);
                if (form) {
                    options.clover.form = static_cast<CloverForm>(position_of(*form, "clover", clover_form_names));
                }
                if (hub_selection) {
                    options.clover.hub_selection =
                        static_cast<HubSelection>(position_of(*hub_selection, "hub_selection", hub_selection_names));
                }
                std::optional<Tree> tree;
                run(call, points.count(), [&](const Execution& execution) {
                    options.execution = execution;
                    tree.emplace(points, options);
                });
                new (self) Tree(std::move(*tree));
            },
            nb::arg("call"), nb::arg("leaf_size").none(), nb::arg("clover") = nb::none(), nb::arg("hubs") = nb::none(),
            nb::arg("hub_selection") = nb::none(), nb::arg("seed") = nb::none())
        .def_prop_ro("size", &Tree::size)
        .def_prop_ro("dimension", &Tree::dimension)
        .def_prop_ro("is_float64", [](const Tree& tree) { return tree.dtype() == DType::float64; })
        .def_prop_ro("device", &Tree::device)
        .def_prop_ro("box", &Tree::box, nb::rv_policy::copy)
        .def_prop_ro("order",
                     [](nb::object self) {
                         const Tree& tree = nb::cast<const Tree&>(self);
                         return positions_view(tree.order(), tree.device(), self);
                     })
        .def_prop_ro("engine", [](const Tree& tree) { return name_of(tree.engine()); })
        .def_prop_ro("points",
                     [](const Tree& tree) {
                         return tree.dtype() == DType::float64 ? owned_array(tree.points<double>(), tree.dimension())
                                                               : owned_array(tree.points<float>(), tree.dimension());
                     })
        .def_prop_ro("sorted_points",
                     [](const Tree& tree) {
                         return tree.dtype() == DType::float64
                                    ? owned_array(tree.sorted_points<double>(), tree.dimension())
                                    : owned_array(tree.sorted_points<float>(), tree.dimension());
                     })
        .def_prop_ro("plane_count", &Tree::plane_count)
        .def("plane",
             [](nb::object self, int index) {
                 const Tree& tree = nb::cast<const Tree&>(self);
                 if (index < 0 || index >= tree.plane_count()) {
                     throw nb::index_error("there is no such plane");
                 }
                 return positions_view(tree.plane(index), tree.device(), self);
             })
        .def("node_boxes", [](const Tree& tree, int plane) {
            const auto corners = [&]<Coordinate T>(T) {
                NodeBoxes<T> boxes = tree.node_boxes<T>(plane);
                return nb::make_tuple(owned_array(std::move(boxes.lower), tree.dimension()),
                                      owned_array(std::move(boxes.upper), tree.dimension()));
            };
            return tree.dtype() == DType::float64 ? corners(double{}) : corners(float{});
        });
    module.def("search", search, nb::arg("call"), nb::arg("queries").none(), nb::arg("k"), nb::arg("exclude_self"),
               nb::arg("max_distance"), nb::arg("squared"), nb::arg("distances").none().noconvert(),
               nb::arg("indices").none().noconvert(), nb::arg("query_indices").none().noconvert() = nb::none(),
               nb::arg("labels").none().noconvert() = nb::none(),
               nb::arg("labels_of_queries").none().noconvert() = nb::none());
}

} // namespace kith::python
