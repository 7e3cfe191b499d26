/**
 * How Node runs a script of a package the way this module runs itself: from source, or as the JavaScript that
 * `scripts/translate.mjs` or a build wrote, which loads in half the time.
 * @param script path of the source from the repository's root
 */
export function nodeArguments(script: string): readonly string[] {
  if (import.meta.url.endsWith('.ts')) return ['--conditions=source', '--import', 'tsx', script]
  return [script.replace('/src/', '/dist/').replace(/\.ts$/, '.js')]
}
