"""Keys never reach a record."""

from hypothesis import given
from hypothesis import strategies as st

from homie_planner.redaction import SHORTEST_SECRET, Redaction

# No secret holds the replacement.
SECRETS = st.text(st.characters(exclude_characters="*"), min_size=SHORTEST_SECRET, max_size=20)


@given(st.lists(SECRETS, min_size=1, max_size=4), st.data())
def test_no_secret_is_left(secrets: list[str], data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(st.sampled_from(secrets) | st.text(max_size=5), max_size=8)))
    redacted = Redaction(secrets)(text)
    assert not [secret for secret in secrets if secret in redacted]


@given(st.text())
def test_other_text_stays(text: str) -> None:
    assert Redaction(["none", "EMPTY", ""])(text) == text


def test_a_secret_inside_another() -> None:
    assert Redaction(["sk-123456", "Bearer sk-123456"])("send Bearer sk-123456, sk-123456") == "send ***, ***"
