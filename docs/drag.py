import varimech as vm

el = vm.elements


@vm.register
class Drag(el.Force):
    """Drag on a point, proportional to the square of its speed."""

    kind = "drag"
    point = el.fields.Point("Point that it acts on.")
    coefficient = el.fields.Scalar("Force per speed squared.", unit="N·s²/m²", rule="non-negative")

    def efforts(self, frames, state):
        v = frames[self.point.body].velocity(self.point.local)
        return [(v, -self.coefficient * vm.norm(v) * v)]
