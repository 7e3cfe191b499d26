/**
 * The JavaScript of a script of a package or of `npm start`, as `scripts/translate.mjs` keeps it up to date or a build writes
 * it: it loads in half the time of the source. Whoever starts services translates first.
 * @param script path of the source from the repository's root
 */
export function translatedScript(script: string): string {
  return script
    .replace(/^scripts\//, 'scripts/dist/')
    .replace('/src/', '/dist/')
    .replace(/\.ts$/, '.js')
}
