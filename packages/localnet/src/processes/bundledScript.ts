/**
 * Path of the bundle that `scripts/bundle.mjs` writes of a script. A bundle takes a quarter of the source's processor time
 * to start. The caller has to bundle first.
 * @param script path of the source from the repository's root
 */
export function bundledScript(script: string): string {
  return script.replace(/(\/src)?\/([^/]+)\.ts$/, '/dist/$2.js')
}
