// A planar tree of pins with loops closed at points, one linear spring and one torque, simulated by Simbody; everything is read from the
// standard input as numbers, and a line "seconds x y" is printed for every setting asked for, or "nan nan nan" where the integrator gave up.
//
// Input: number of bodies; for each its parent (-1: ground), the pin on the parent, mass, inertia, centre of mass from the pin, angle against
// the parent; number of closing pairs; for each body, point, body, point (from their pins); spring: body, point, place on the ground,
// stiffness, natural length; torque on body 0; point watched on body 0; duration; then settings to the end: integrator, accuracy,
// tolerance of the constraints and step; 0 for the default tolerance, or for steps as the accuracy asks for.
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "Simbody.h"

using namespace SimTK;

static double number() {
    double x;
    std::cin >> x;
    return x;
}

static Vec3 place() {
    const double x = number(), y = number();
    return Vec3(x, y, 0);
}

static std::unique_ptr<Integrator> integrator(const std::string& name, const System& system) {
    if (name == "RungeKuttaMerson") return std::make_unique<RungeKuttaMersonIntegrator>(system);
    if (name == "RungeKuttaFeldberg") return std::make_unique<RungeKuttaFeldbergIntegrator>(system);
    throw std::runtime_error("no integrator of this name: " + name);
}

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
    const double began = now();
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    std::vector<MobilizedBody> bodies;
    std::vector<double> angles;
    for (int count = static_cast<int>(number()); count > 0; --count) {
        const int parent = static_cast<int>(number());
        const Vec3 pin = place();
        const double mass = number(), inertia = number();
        const Vec3 com = place();
        angles.push_back(number());
        // about the other two axes nothing turns
        const MassProperties properties(mass, com, Inertia(inertia, inertia, inertia).shiftFromMassCenter(com, mass));
        MobilizedBody& base = parent < 0 ? static_cast<MobilizedBody&>(matter.updGround()) : bodies[parent];
        bodies.push_back(MobilizedBody::Pin(base, Transform(pin), Body::Rigid(properties), Transform()));
    }
    for (int count = static_cast<int>(number()); count > 0; --count) {
        MobilizedBody& first = bodies[static_cast<int>(number())];
        const Vec3 on_first = place();
        MobilizedBody& second = bodies[static_cast<int>(number())];
        const Vec3 on_second = place();
        Constraint::PointInPlane(first, UnitVec3(XAxis), on_first[0], second, on_second);
        Constraint::PointInPlane(first, UnitVec3(YAxis), on_first[1], second, on_second);
    }
    MobilizedBody& sprung = bodies[static_cast<int>(number())];
    const Vec3 on_sprung = place(), on_ground = place();
    const double stiffness = number(), natural_length = number();
    Force::TwoPointLinearSpring(forces, sprung, on_sprung, matter.updGround(), on_ground, stiffness, natural_length);
    Force::MobilityConstantForce(forces, bodies[0], 0, number());
    const Vec3 watched = place();
    const double duration = number();
    State start = system.realizeTopology();
    for (std::size_t k = 0; k < bodies.size(); ++k) bodies[k].setOneQ(start, 0, angles[k]);
    system.realize(start, Stage::Acceleration);
    std::cout.precision(17);
    std::cout << now() - began << std::endl;

    std::string name;
    double accuracy, tolerance, step;
    while (std::cin >> name >> accuracy >> tolerance >> step) {
        double best = std::numeric_limits<double>::infinity();
        Vec3 end(std::nan(""));
        try {
            const double first = now();
            for (int count = 0; count < 3 || (count < 200 && now() - first < 0.8); ++count) {
                const double from = now();
                const auto chosen = integrator(name, system);
                chosen->setAccuracy(accuracy);
                if (tolerance > 0) chosen->setConstraintTolerance(tolerance);
                if (step > 0) chosen->setFixedStepSize(step);
                chosen->initialize(start);
                while (chosen->getTime() < duration) chosen->stepTo(duration);
                best = std::min(best, now() - from);
                end = bodies[0].findStationLocationInGround(chosen->getState(), watched);
            }
        } catch (const std::exception&) {
            best = std::nan("");
        }
        std::cout << best << " " << end[0] << " " << end[1] << std::endl;
    }
}
