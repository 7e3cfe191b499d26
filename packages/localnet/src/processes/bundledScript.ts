/**
 * The file that starts a service, its commands or a part of `npm start`, as `scripts/bundle.mjs` writes it: it takes a
 * quarter of the source's processor time to start. Whoever starts one bundles first.
 * @param script path of the source from the repository's root
 */
export function bundledScript(script: string): string {
  return script.replace(/(\/src)?\/([^/]+)\.ts$/, '/dist/$2.js')
}
