"""The leaderboard in a browser, from disk and offline: sorting, filtering, cells, pairs, sizes and colours."""

import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from boards import NASTY, NONE_FAILED, study
from nofluke.errors import InputError
from nofluke.show.leaderboard import make_leaderboard_page, write_leaderboard
from nofluke.show.leaderboard.page import opening
from nofluke.studies.cell_map import map_cells
from nofluke.text.numbers import show_p
from nofluke.text.tables import show_share


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A study of 16 detectors on 28 series, and its page."""
    board, cells, failed = study()
    path = write_leaderboard(board, tmp_path_factory.mktemp("board") / "small.html", cells=cells, failed=failed)
    return board, cells, map_cells(board.detectors, cells, failed), path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A study of 30 detectors on 350 series, and its page."""
    board, cells, failed = study(30, 350, 23)
    return board, write_leaderboard(board, tmp_path_factory.mktemp("board") / "large.html", cells=cells, failed=failed)


def names_on(page):
    """Detectors in the table that are seen, from above."""
    return page.locator("#board tbody tr:visible").evaluate_all("rows => rows.map(row => row.dataset.name)")


@pytest.mark.browser
def test_the_table_sorts_by_any_column(visit, small):
    """Best first to begin with; a second press turns the order; the heading says which."""
    board, _, _, path = small
    page = visit(path)
    assert names_on(page) == list(board.detectors)
    page.get_by_role("button", name="Sort by detector").click()
    assert names_on(page)[0] == NASTY
    heading = page.get_by_role("button", name="Sort by no fluke")
    heading.focus()
    page.keyboard.press("Enter")
    shares = {row.detector: row.share_yes for row in board.rows}
    assert [shares[name] for name in names_on(page)] == sorted(shares.values(), reverse=True)
    page.keyboard.press("Enter")
    assert [shares[name] for name in names_on(page)] == sorted(shares.values())
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"


@pytest.mark.browser
def test_the_table_filters_by_name_verdict_and_group(visit, small):
    """All together, and it says how many are left."""
    board, _, _, path = small
    page = visit(path)
    page.locator("#find").fill("MENTA")
    assert names_on(page) == [name for name in board.detectors if "numenta" in name.lower()]
    assert page.locator("#count").text_content() == "2 of 16 detectors"
    page.locator("#find").fill("")
    page.locator("#only").select_option("yes")
    assert names_on(page) == [row.detector for row in board.rows if row.verdict == "yes"]
    page.locator("#only").select_option("")
    page.locator("#best").check()
    assert names_on(page) == [row.detector for row in board.rows if row.best]


@pytest.mark.browser
def test_a_click_on_a_cell_opens_its_numbers(visit, small):
    """Those of its row in the table of results, with notes; arrow keys go on, Escape goes back."""
    board, cells, found, path = small
    page = visit(path)
    box = page.locator("#map-verdict .cells svg")
    box.scroll_into_view_if_needed()
    area = box.bounding_box()
    i, j = 2, 3
    spot = area["x"] + (j + 0.5) / 28 * area["width"], area["y"] + (i + 0.5) / 16 * area["height"]
    page.mouse.click(*spot)
    for column in (j, j + 1):
        k = found.rows[i, column]
        assert page.locator("#cell-title").text_content() == f"{board.detectors[i]} on {found.columns[column]}"
        for side, of in (("precision", "n_predictions"), ("recall", "n_events")):
            line = page.locator(f"#cell-body tr:has(th:text-is('{side}')) td").all_text_contents()
            assert line[0] == show_share(cells[side][k])
            assert line[1] == f"{cells[f'{side}_hits'][k]} of {cells[of][k]}"
            assert line[3] == show_p(float(cells[f"{side}_pvalue"][k]))
        body = page.locator("#cell-body").text_content()
        assert cells["reason"][k] in body
        assert all(note in body for note in cells["notes"][k])
        assert "auc-roc" in body
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert page.locator("#cell").is_hidden()


@pytest.mark.browser
def test_cells_are_reached_by_keyboard_and_missing_ones_say_why(visit, small):
    """Arrow keys, Home and End move; Enter opens; a missing cell has its reason and no number."""
    board, _, found, path = small
    page = visit(path)
    page.locator("#map-verdict .grid").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    told = f"{board.detectors[1]} on {found.columns[-1]} (group 6): missing. {NASTY}: no such file."
    assert page.locator("#at").text_content() == told
    page.keyboard.press("Enter")
    assert page.locator("#cell-body").text_content().endswith(f"There is no result: {NASTY}: no such file.")
    page.locator("#close").click()
    page.keyboard.press("Home")
    assert found.columns[0] in page.locator("#at").text_content()


@pytest.mark.browser
def test_the_map_switches_between_verdicts_and_values(visit, small):
    """One is seen at a time; letters and numbers are those of the cells."""
    _, _, found, path = small
    page = visit(path)
    letters = page.locator("#map-verdict .cells text[class^=on-]").all_text_contents()
    assert letters == [["–", "?", "✗", "◐", "✓"][code] for code in found.codes.ravel()]
    assert page.locator("#map-value").is_hidden()
    page.locator("[name=show][value=value]").check()
    assert page.locator("#map-verdict").is_hidden()
    shown = page.locator("#map-value .cells text.on-pale, #map-value .cells text.on-deep").all_text_contents()
    values = [float(text.replace("−", "-")) for text in shown]
    assert np.allclose(values, found.values[np.isfinite(found.values)], atol=0.0051)
    wide = page.locator("#map-value .cells").first.bounding_box()["width"]
    page.get_by_role("button", name="wider").click()
    assert page.locator("#map-value .cells").first.bounding_box()["width"] > 1.1 * wide
    page.get_by_role("button", name="narrower").click()
    assert page.locator("#map-value .cells").first.bounding_box()["width"] == pytest.approx(wide)


@pytest.mark.browser
def test_pairs_are_told_apart_and_open(visit, small):
    """Arrows where the corrected p is small; a click shows all measures; another measure can be chosen."""
    board, _, _, path = small
    page = visit(path)
    f1 = board.pairs.measures["f1"]
    told = f1.corrected <= board.about.alpha
    assert page.locator("#pairs-table td.up").count() == (told & (f1.difference > 0)).sum() > 0
    assert page.locator("#pairs-table td.down").count() == (told & (f1.difference < 0)).sum()
    before = page.locator("#pairs-table tbody").text_content()
    page.locator("#measure").select_option("recall")
    assert page.locator("#pairs-table tbody").text_content() == before  # the same numbers here, written by the script
    page.locator("#pairs-table tbody tr").nth(0).locator("td").nth(9).click()
    assert page.locator("#cell-title").text_content() == f"{board.detectors[0]} minus {board.detectors[9]}"
    line = page.locator("#cell-body tr:has(th:text-is('F1')) td").all_text_contents()
    assert line[0] == f"+{show_share(f1.difference[0, 9])}"
    assert line[2:] == [show_p(f1.pvalue[0, 9]), show_p(f1.corrected[0, 9])]


@pytest.mark.browser
@pytest.mark.parametrize("size", ["small", "large"])
def test_nothing_runs_over_the_edge_of_a_telephone(visit, request, size):
    """No sideways scrolling of the page: wide tables and maps scroll in their places."""
    page = visit(request.getfixturevalue(size)[-1], width=390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("#map-verdict .grid").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.locator("#cell").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@pytest.mark.browser
def test_ten_thousand_cells_open_with_all_their_numbers(visit, large):
    """Below 6 MB; verdicts differ by shape where there is no room for letters."""
    board, path = large
    assert path.stat().st_size < 6e6
    page = visit(path)
    page.locator("#map-verdict .grid").focus()
    page.keyboard.press("Enter")
    assert page.locator("#cell-title").text_content() == f"{board.detectors[0]} on 000_sensor.csv"
    heights = page.locator("#map-verdict path").evaluate_all(
        "all => all.map(p => p.getAttribute('d').match(/v([.\\d]+)/)[1])"
    )
    assert len(set(heights)) == len(heights) == 5


@pytest.fixture(scope="module")
def partly(tmp_path_factory):
    """The small study, with chance about fewer series than the values for some, and long words on methods."""
    board, cells, failed = study()
    rows = [
        replace(row, f1=replace(row.f1, told=0.9 * row.f1.value), recall=replace(row.recall, told=0.123))
        for row in board.rows[:9]
    ]
    board = replace(board, rows=(*rows, *board.rows[9:]))
    cells = cells | {"recall_method": ["3,181 local shifts (approximate), as many as there are"] * len(cells["series"])}
    return board, write_leaderboard(board, tmp_path_factory.mktemp("board") / "partly.html", cells=cells, failed=failed)


WIDER = "all => all.filter(e => e.scrollWidth > e.clientWidth).length"


@pytest.mark.browser
def test_a_laptop_shows_all_columns(visit, partly):
    """The table and the numbers of a cell need no scrolling at 1280 pixels."""
    page = visit(partly[-1], width=1280)
    page.locator("#map-verdict .grid").focus()
    page.keyboard.press("Enter")
    assert page.locator("#detectors .scroll, #cell .scroll").evaluate_all(WIDER) == 0
    page = visit(partly[-1], width=390)
    assert page.locator("#detectors .scroll").evaluate_all(WIDER) == 1
    assert "gradient" in page.locator("#detectors .scroll").evaluate("e => getComputedStyle(e).backgroundImage")


@pytest.mark.browser
def test_chance_has_the_value_that_it_is_about(visit, partly, small):
    """Beside chance and in the figure, where that is another than the value; else there is no word on it."""
    board, path = partly
    page = visit(path)
    ofs = page.locator("#board .of").all_text_contents()
    assert ofs == [text for row in board.rows[:9] for text in (f"(of {show_share(row.f1.told)})", "(of 0.123)")]
    assert page.locator("#board-dots .told").count() == 9
    assert page.locator(".k-told").is_visible()
    assert "(of x)" in page.locator("#detectors").text_content()
    page = visit(small[-1])
    assert page.locator(".k-told").is_hidden()
    assert page.locator("#board .of, #board-dots .told").count() == 0
    assert "(of x)" not in page.locator("#detectors").text_content()


@pytest.mark.browser
def test_columns_have_their_names(visit, small, large):
    """Below the map, or as numbers where columns are narrow; and a list has all of them, without scripts too."""
    page = visit(small[-1], java_script_enabled=False)
    assert page.locator("#map-verdict text.column").all_text_contents() == list(small[2].columns)
    assert page.locator("#columns li").all_text_contents()[3] == "003_sensor.csv (group 0)"
    page = visit(large[-1])
    assert page.locator("#map-verdict text.place").all_text_contents() == [
        "50",
        "100",
        "150",
        "200",
        "250",
        "300",
        "350",
    ]
    assert page.locator("#columns li").count() == 350


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_nothing_is_closed_on_paper(visit, partly, scripts):
    """Reasons, columns and missing cells are printed; headings of pairs stand apart."""
    page = visit(partly[-1], width=690, java_script_enabled=scripts)
    assert not page.locator("#columns li").first.is_visible()
    page.emulate_media(media="print")
    for inside in ("#detectors dd", "#columns li", "#gone td"):
        assert page.locator(inside).first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 690
    edges = page.locator("#pairs-table thead th span[aria-hidden]").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(r => [r.left, r.right])"
    )
    assert all(right + 5 < left for (_, right), (left, _) in pairwise(edges))


def test_a_detector_alone_has_no_star():
    """Neither in the table nor in a legend."""
    board, cells, failed = study(1, 3, 3, compared=False)
    page = make_leaderboard_page(board, cells=cells, failed=failed).split('<dialog id="cell"')[0]
    assert "not significantly worse than the best" not in page
    assert page.count("★") == 1  # of the filter, which is hidden
    assert "<label hidden>" in page


@pytest.mark.browser
def test_it_can_be_read_without_scripts(visit, small):
    """Both maps, the table and pairs are there; what needs a script is hidden, and it is said."""
    page = visit(small[-1], java_script_enabled=False)
    assert page.locator("#map-verdict").is_visible()
    assert page.locator("#map-value").is_visible()
    assert page.locator("#board tbody tr").count() == 16
    assert page.locator(".filters:visible").count() == 0
    assert page.locator("body noscript").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("size", ["small", "large"])
def test_it_prints(visit, request, size):
    """All of it within the width of a sheet, on a handful of pages."""
    page = visit(request.getfixturevalue(size)[-1], width=690)  # A4 without its margins
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") == 690
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 9


@pytest.mark.browser
def test_dark_screens_get_a_dark_page_and_paper_stays_white(visit, small):
    """Colours follow the reader's system."""
    page = visit(small[-1], color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) != "rgb(255, 255, 255)"
    page.evaluate("document.documentElement.classList.add('printing')")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.browser
def test_a_study_of_groups_opens_theirs(visit, tmp_path):
    """Too many series for a map: groups, their counts of verdicts, and a line that says so."""
    board, cells, failed = study(4, 4_000, 20)
    page = visit(write_leaderboard(board, tmp_path / "groups.html", cells=cells, failed=failed))
    assert "4,000 series are shown as 20 groups" in page.locator("#about-verdict").text_content()
    page.locator("#map-verdict .grid").focus()
    page.keyboard.press("Enter")
    counts = map_cells(board.detectors, cells, failed).counts[0, 0]
    shown = page.locator("#cell-body dd").all_text_contents()
    assert shown[:5] == [str(count) for count in counts[::-1]]


def test_a_study_without_results_has_a_page():
    """Every cell failed: nothing is compared, nothing is 0."""
    board, cells, failed = study(2, 3, 3, compared=False)
    none = {name: [] for name in cells}
    failed = {"series": ["s"], "group": ["g"], "detector": [""], "reason": ["empty file"]}
    page = make_leaderboard_page(board, cells=none, failed=failed)
    assert "missing 2." in page
    assert '<section id="pairs"' not in page
    assert make_leaderboard_page(board, cells=none, failed=NONE_FAILED)


def test_the_same_study_gives_the_same_bytes(small):
    """No clock and no chance in the page; and no name is markup."""
    text = small[-1].read_text(encoding="utf-8")
    board, cells, failed = study()
    assert make_leaderboard_page(board, cells=cells, failed=failed) == text
    assert "<script>alert" not in text
    with pytest.raises(InputError, match="board must be a Leaderboard, got dict"):
        make_leaderboard_page({}, cells=cells, failed=failed)


def luminance(colour):
    """Of a colour in six digits, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def resolved(colour, colours):
    """A colour of the style sheet in six digits: of others it knows names, and mixtures."""
    if mixed := re.fullmatch(r"color-mix\(in srgb, var\(--([\w-]+)\) (\d+)%, var\(--([\w-]+)\)\)", colour):
        a, b = (resolved(colours[mixed[i]], colours) for i in (1, 3))
        share = int(mixed[2]) / 100
        parts = (share * int(a[i : i + 2], 16) + (1 - share) * int(b[i : i + 2], 16) for i in (1, 3, 5))
        return "#" + "".join(f"{round(part):02x}" for part in parts)
    named = re.fullmatch(r"var\(--([\w-]+)\)", colour)
    return resolved(colours[named[1]], colours) if named else colour


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_ink_is_read_on_its_ground(small, scheme):
    """A contrast of 4.5 to 1 at least, on light screens and dark ones."""
    style = small[-1].read_text(encoding="utf-8").split("<style>")[1].split("</style>")[0]
    blocks = re.findall(r":root(:not\(\.printing\))? \{(.*?)\}", style, flags=re.DOTALL)
    colours = {}
    for dark, block in sorted(blocks):
        if not dark or scheme == "dark":
            colours |= dict(re.findall(r"--([\w-]+): ([^;]+);", block))
    pairs = [
        ("ink", "paper"),
        ("soft", "paper"),
        ("soft", "best"),
        ("ink", "best"),
        ("star", "best"),
        ("chance", "best"),
        *((f"v-{name}", ground) for name in ("yes", "partly", "no", "cannot") for ground in ("paper", "best", "tint")),
    ]
    pairs += [
        ("chance", "paper"),
        ("ink", "tint"),
        ("ink", "line"),
        ("on-gone", "paper"),
        ("on-deep", "v6"),
        ("on-deep", "v7"),
    ]
    pairs += [(f"on-{name}", name) for name in ("yes", "partly", "no", "cannot")] + [
        ("on-pale", f"v{i}") for i in range(6)
    ]
    for ink, ground in pairs:
        low, high = sorted(luminance(resolved(colours[name], colours)) for name in (ink, ground))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, ground)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("yes no", "a leads; b cannot be told from it but looks like chance."),
        ("no no", "a leads; b cannot be told from it; all look like chance."),
        ("yes no no", "a leads; no other can be told from it; all others look like chance."),
        ("yes yes no", "a leads; no other can be told from it; c looks like chance."),
    ],
)
def test_who_looks_like_chance_is_said_once(rows, said):
    """Of detectors that cannot be told apart, too."""
    found = [
        SimpleNamespace(detector=name, verdict=verdict, best=True)
        for name, verdict in zip("abc", rows.split(), strict=False)
    ]
    assert opening(found, compared=True) == said
