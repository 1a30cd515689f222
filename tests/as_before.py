"""Settings that most tests were written for: plain counts and the criterion "jmi"."""


def counted(settings, *given):
    """The settings with plain counts where they name no other measure or correction; `given` are named elsewhere."""
    plain = {"measure": "plugin", "correction": "none"}
    if settings.get("measure", "plugin") != "plugin":
        del plain["correction"]  # other measures do not use it
    return {name: value for name, value in plain.items() if name not in given} | dict(settings)


def jmi(settings):
    """The settings with the criterion "jmi" where they name none."""
    return {"criterion": "jmi"} | dict(settings)
