import type { StoredBody } from '@causeway/localnet/standIns/bodies'

/** A rule of a reader that nothing but bodies of our own making prove. */
export type ConstructedRule = { readonly family: string; readonly rule: string }

/** Each once, in alphabetical order within its family. */
export function constructedRules(
  families: Readonly<Record<string, readonly StoredBody[]>>,
): readonly ConstructedRule[] {
  return Object.entries(families).flatMap(([family, bodies]) => {
    const rulesOf = (own: readonly StoredBody[]) => own.flatMap(({ proves }) => proves)
    const better = new Set(rulesOf(bodies.filter(({ provenance }) => provenance !== 'constructed')))
    const rules = new Set(rulesOf(bodies))
    return [...rules]
      .filter((rule) => !better.has(rule))
      .sort()
      .map((rule) => ({ family, rule }))
  })
}

export function constructedRulesText(rules: readonly ConstructedRule[]): string {
  const lines = rules.map(({ family, rule }) => `  ${family}: ${rule}\n`)
  return `${rules.length} rules are proven by constructed answers alone; suspect them first:\n${lines.join('')}`
}
