// Slips that users of the library make. None compiles, and each draws an error that says what is wanted: the text after
// "says:" in its comment. See slips.py.
#include <kith/device/kdtree.hpp>
#include <kith/kith.hpp>

#include <array>
#include <deque>
#include <vector>

struct MixedMembers {
    float x, y;
    double z;
};
struct FourNumbers {
    float x, y, z, w;
};
struct OtherNames {
    double px, py, pz;
};

using KdTree = kith::kdtree::TreeView<kith::kdtree::StructNodes<std::array<float, 3>>>;

const auto length = kith::LinkingLength::absolute(0.1);

// clang-format off
void a_flat_array(const std::vector<float>& a) { kith::knn(a, 8); } // says: needs the dimension of its points: kith::PointsView(coordinates, 3)
void a_flat_std_array(const std::array<double, 30>& a) { kith::fof(a, length); } // says: for a flat array of many points give their dimension
void whole_numbers(const std::vector<std::array<int, 3>>& a) { kith::knn(a, 8); } // says: coordinates are float or double
void lists_of_lists(const std::vector<std::vector<double>>& a) { kith::spanning_tree(a); } // says: points are a contiguous range of std::array<T, d>
void no_contiguous_range(const std::deque<std::array<double, 3>>& a) { kith::radius_count(a, 1); } // says: points are a contiguous range
void members_of_two_types(const std::vector<MixedMembers>& a) { kith::fof(a, length); } // says: structs with members x, y and z of one type
void members_of_other_names(const std::vector<OtherNames>& a) { kith::Tree tree(a); } // says: kith::PointsView(particles, &P::px, &P::py, &P::pz)
void a_number_as_linking_length(const std::vector<std::array<float, 3>>& a) { kith::fof(a, 0.2); } // says: a linking length is kith::LinkingLength::absolute(l)
void a_count_of_another_type(const KdTree& tree) { kith::kdtree::CountWithin count(kith::kdtree::squared_radius<double>(0.1)); kith::kdtree::search(tree, {}, count); } // says: the candidates are of another scalar type than the tree's distances
void nearest_of_another_type(const KdTree& tree) { kith::kdtree::Nearest<double, 3> nearest; kith::kdtree::search(tree, {}, nearest); } // says: the candidates are of another scalar type than the tree's distances
void four_numbers_without_a_word(std::vector<FourNumbers>& a) { kith::kdtree::view_of(a.data(), 5, {}); } // says: whether w is a coordinate or payload must be said
void a_product_as_radius(double r) { kith::kdtree::CountWithin count(r * r); } // says: CountWithin
void a_product_as_limit(double r) { kith::kdtree::Nearest<float, 3> nearest(r * r); } // says: kith::kdtree::Nearest<float, 3>
