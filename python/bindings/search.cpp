// Trees and neighbours.
#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "stages.hpp"

#include <kith/error.hpp>
#include <kith/knn.hpp>
#include <kith/tree.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

namespace kith::python {

namespace {

/// Rows x k arrays without gaps, in memory that the caller gave.
class RowsOfCaller {
public:
    RowsOfCaller(const std::optional<OutputArray>& distances, const std::optional<OutputArray>& indices,
                 DType of_points) {
        if (distances) {
            require_dense(*distances, "the array for distances");
        }
        if (indices) {
            require_dense(*indices, "the array for indices");
        }
        if (indices && indices->dtype() == nb::dtype<std::int64_t>()) {
            make<std::int64_t>(distances, indices, of_points);
        } else if (!indices || indices->dtype() == nb::dtype<std::int32_t>()) {
            make<std::int32_t>(distances, indices, of_points);
        } else {
            throw nb::type_error("indices must be int32 or int64");
        }
    }
    [[nodiscard]] const NeighborRows& rows() const noexcept { return rows_; }

private:
    template <class Index>
    void make(const std::optional<OutputArray>& distances, const std::optional<OutputArray>& indices, DType of_points) {
        const DType dtype = !distances                                 ? of_points
                            : distances->dtype() == nb::dtype<float>() ? DType::float32
                            : distances->dtype() == nb::dtype<double>()
                                ? DType::float64
                                : throw nb::type_error("distances must be float32 or float64");
        if (dtype == DType::float32) {
            rows_ = NeighborRows(elements<Index>(indices), elements<float>(distances));
        } else {
            rows_ = NeighborRows(elements<Index>(indices), elements<double>(distances));
        }
    }
    template <class Element>
    static std::span<Element> elements(const std::optional<OutputArray>& array) {
        return array ? std::span<Element>(static_cast<Element*>(array->data_handle()), array->size())
                     : std::span<Element>();
    }

    NeighborRows rows_;
};

/// Memory of a tree: a NumPy array, or on a GPU an object that other libraries take by DLPack.
nb::object positions_view(std::span<const std::int32_t> positions, const Device& device, nb::handle owner) {
    if (device.kind == DeviceKind::cpu) {
        return nb::cast(nb::ndarray<nb::numpy, const std::int32_t>(positions.data(), {positions.size()}, owner));
    }
    return nb::cast(nb::ndarray<const std::int32_t>(positions.data(), {positions.size()}, owner, {},
                                                    nb::dtype<std::int32_t>(), nb::device::cuda::value, device.index));
}

struct Request {
    std::int64_t k;
    KnnOptions options;
};

Request request_of(std::int64_t k, bool exclude_self, double max_distance, bool squared, const std::string& engine) {
    Request request{k, {}};
    request.options.exclude_self = exclude_self;
    request.options.max_distance = max_distance;
    request.options.squared = squared;
    request.options.engine = engine == "auto"   ? Engine::automatic
                             : engine == "tree" ? Engine::tree
                             : engine == "brute_force"
                                 ? Engine::brute_force
                                 : throw Error(ErrorKind::invalid_argument, "engine is '" + engine +
                                                                                "'; it must be 'auto', 'tree' or "
                                                                                "'brute_force'");
    return request;
}

nb::list search_tree(const Tree& tree, const std::optional<InputArray>& queries, std::int64_t k, bool exclude_self,
                     double max_distance, bool squared, const std::string& engine,
                     const std::optional<OutputArray>& distances, const std::optional<OutputArray>& indices,
                     nb::handle threads, nb::object progress) {
    const Request request = request_of(k, exclude_self, max_distance, squared, engine);
    const RowsOfCaller rows(distances, indices, tree.dtype());
    const std::optional<PointsView> view =
        queries ? std::optional(points_of(*queries, "queries")) : std::optional<PointsView>();
    CallOptions options = call_options(nb::none(), threads, std::move(progress));
    options.device = tree.device();
    StageReports stages;
    run(options, (view ? view->count() : tree.size()) * k, [&](const Execution& execution) {
        stages = view ? knn_into(rows.rows(), tree, *view, request.k, request.options, execution)
                      : knn_into(rows.rows(), tree, request.k, request.options, execution);
    });
    return stages_of(stages);
}

nb::list search_points(const InputArray& points, const std::optional<InputArray>& queries, nb::handle box,
                       std::int64_t k, bool exclude_self, double max_distance, bool squared, const std::string& engine,
                       const std::optional<OutputArray>& distances, const std::optional<OutputArray>& indices,
                       nb::handle device, nb::handle threads, nb::object progress) {
    const Request request = request_of(k, exclude_self, max_distance, squared, engine);
    const PointsView sources = points_of(points, "points");
    const RowsOfCaller rows(distances, indices, sources.dtype());
    const std::optional<PointsView> view =
        queries ? std::optional(points_of(*queries, "queries")) : std::optional<PointsView>();
    const Box space = box_of(box);
    StageReports stages;
    run(call_options(device, threads, std::move(progress)),
        (view ? view->count() : sources.count()) * k + sources.count(), [&](const Execution& execution) {
            stages = view ? knn_into(rows.rows(), sources, *view, request.k, space, request.options, execution)
                          : knn_into(rows.rows(), sources, request.k, space, request.options, execution);
        });
    return stages_of(stages);
}

} // namespace

void bind_search(nb::module_& module) {
    nb::class_<Tree>(module, "Tree")
        .def(
            "__init__",
            [](Tree* self, const InputArray& points, nb::handle box, std::optional<int> leaf_size, nb::handle device,
               nb::handle threads, nb::object progress) {
                const PointsView view = points_of(points, "points");
                const Box space = box_of(box);
                TreeOptions options;
                options.leaf_size = leaf_size.value_or(options.leaf_size);
                std::optional<Tree> tree;
                run(call_options(device, threads, std::move(progress)), view.count(),
                    [&](const Execution& execution) { tree.emplace(view, space, options, execution); });
                new (self) Tree(std::move(*tree));
            },
            nb::arg("points"), nb::arg("box").none(), nb::arg("leaf_size").none(), nb::arg("device").none(),
            nb::arg("threads").none(), nb::arg("progress").none())
        .def_prop_ro("size", &Tree::size)
        .def_prop_ro("dimension", &Tree::dimension)
        .def_prop_ro("is_float64", [](const Tree& tree) { return tree.dtype() == DType::float64; })
        .def_prop_ro("device", &Tree::device)
        .def_prop_ro("box", &Tree::box, nb::rv_policy::copy)
        .def_prop_ro("stages", [](const Tree& tree) { return stages_of(tree.stages()); })
        .def_prop_ro("order",
                     [](nb::object self) {
                         const Tree& tree = nb::cast<const Tree&>(self);
                         return positions_view(tree.order(), tree.device(), self);
                     })
        .def_prop_ro("plane_count", &Tree::plane_count)
        .def("plane", [](nb::object self, int index) {
            const Tree& tree = nb::cast<const Tree&>(self);
            if (index < 0 || index >= tree.plane_count()) {
                throw nb::index_error("there is no such plane");
            }
            return positions_view(tree.plane(index), tree.device(), self);
        });
    module.def("search_tree", search_tree, nb::arg("tree"), nb::arg("queries").none(), nb::arg("k"),
               nb::arg("exclude_self"), nb::arg("max_distance"), nb::arg("squared"), nb::arg("engine"),
               nb::arg("distances").none().noconvert(), nb::arg("indices").none().noconvert(),
               nb::arg("threads").none(), nb::arg("progress").none());
    module.def("search_points", search_points, nb::arg("points"), nb::arg("queries").none(), nb::arg("box").none(),
               nb::arg("k"), nb::arg("exclude_self"), nb::arg("max_distance"), nb::arg("squared"), nb::arg("engine"),
               nb::arg("distances").none().noconvert(), nb::arg("indices").none().noconvert(), nb::arg("device").none(),
               nb::arg("threads").none(), nb::arg("progress").none());
}

} // namespace kith::python
