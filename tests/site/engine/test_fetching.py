"""A model is fetched from a server, or loaded as a script from the file system."""

from hashlib import sha256

from engine import ENGINE, PRETRAINED, SCRIPTS, refusal

from live_figures import as_script


def test_a_model_is_fetched_from_beside_the_script(engine):
    found, heard, sizes = engine.run("""async () => {
      const heard = [];
      const files = await glassformer.fetchModel("pretrained", (numBytes) => heard.push(numBytes));
      const sizes = [files.weights.byteLength, files.model.length, files.tokenizer.length];
      return [glassformer.loadTranslator(files).translate("No.").text, heard, sizes];
    }""")
    assert found == "Non."
    assert sizes[0] == (PRETRAINED / "model.safetensors").stat().st_size
    assert heard == sorted(heard)
    assert heard[-1] == sum(path.stat().st_size for path in PRETRAINED.iterdir())


def test_a_missing_model_is_reported(engine):
    missed = refusal(engine, "() => glassformer.fetchModel('fr-en')")
    assert "Could not fetch http://127.0.0.1" in missed
    assert "(status 404)" in missed


def test_a_lost_connection_is_reported(engine):
    for path in PRETRAINED.iterdir():
        engine.give(f"half/{path.name}", None)  # announced but not sent
    broken = refusal(engine, "() => glassformer.fetchModel('half')")
    assert "The connection was lost while fetching http://127.0.0.1" in broken


def test_a_page_on_disk_loads_the_model_as_a_script(page, tmp_path):
    for path in ENGINE.glob("*.js"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "en-fr.js").write_text(as_script(PRETRAINED), encoding="ascii")
    scripts = "".join(f"<script src={name}.js></script>" for name in SCRIPTS)
    (tmp_path / "index.html").write_text(f"<!doctype html>{scripts}", encoding="utf-8")
    page.goto((tmp_path / "index.html").as_uri())
    digests, heard, missed = page.evaluate("""async () => {
      let heard;
      await glassformer.fetchModel("en-fr"); // the second time it is there already
      const files = await glassformer.fetchModel("en-fr", (numBytes) => (heard = numBytes));
      const bytes = (text) => new TextEncoder().encode(text);
      const digests = {};
      for (const [name, file] of [
        ["model.json", bytes(files.model)],
        ["model.safetensors", files.weights],
        ["tokenizer.json", bytes(files.tokenizer)],
      ]) {
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", file));
        digests[name] = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
      }
      const missed = await glassformer.fetchModel("fr-en").catch(({ message }) => message);
      return [digests, heard, missed];
    }""")
    wanted = {path.name: sha256(path.read_bytes()).hexdigest() for path in PRETRAINED.iterdir()}
    assert digests == wanted
    assert heard == sum(path.stat().st_size for path in PRETRAINED.iterdir())
    assert missed.startswith("Could not load file:///")


def test_outside_the_website_no_model_is_available(page):
    page.set_content(f"<script>{(ENGINE / 'fetching.js').read_text(encoding='utf-8')}</script>")
    message = page.evaluate("() => glassformer.fetchModel('en-fr').catch(({ message }) => message)")
    assert "only available on the book's website" in message
