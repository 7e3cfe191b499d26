import { idsOf, type Rule } from '../checks/specification.ts'
import { type KeptRun, npmTest } from '../testRunner/keptRuns.ts'

/** A test that passed and names rules, or a group of such tests. */
type Proof = {
  readonly suite: string
  readonly file: string
  readonly title: string
  readonly ids: readonly string[]
}

function proofsOf(runs: readonly KeptRun[]): readonly Proof[] {
  return runs.flatMap(({ suite, passed }) =>
    [...passed].flatMap(([file, titles]) =>
      [...new Set(titles)]
        .map((title) => ({ suite, file, title, ids: idsOf(title) }))
        .filter(({ ids }) => ids.length > 0),
    ),
  )
}

/** The tests of each rule, then the rules of each test. */
export function proofsText(rules: readonly Rule[], runs: readonly KeptRun[]): string {
  const proofs = proofsOf(runs)
  const testsOf = ({ id, file, line }: Rule) => [
    `${id} (${file}:${line})`,
    ...proofs.filter(({ ids }) => ids.includes(id)).map((proof) => `  ${proof.file} › ${proof.title}`),
  ]
  const rulesOf = ({ suite, file, title, ids }: Proof) => `${file} (${suite}) › ${title}: ${ids.join(', ')}`
  return [...rules.flatMap(testsOf), '', ...proofs.map(rulesOf).toSorted()].join('\n')
}

/** Rules that no test proved in these runs, and ids in titles that are no rules. */
export function proofProblems(rules: readonly Rule[], runs: readonly KeptRun[]): readonly string[] {
  const proofs = proofsOf(runs)
  const idsIn = (some: readonly Proof[]): ReadonlySet<string> => new Set(some.flatMap(({ ids }) => ids))
  const proven = {
    'any suite': idsIn(proofs),
    'npm test': idsIn(proofs.filter(({ suite }) => suite === npmTest)),
  }
  const ruleIds = new Set(rules.map(({ id }) => id))
  return [
    ...rules.flatMap(({ id, file, line, provenBy }) =>
      provenBy === 'nothing' || proven[provenBy].has(id)
        ? []
        : [`${file}:${line}: ${id} is proven by no test that passed in ${provenBy}`],
    ),
    ...proofs.flatMap(({ file, title, ids }) =>
      ids.filter((id) => !ruleIds.has(id)).map((id) => `${file} › ${title}: ${id} is no rule`),
    ),
  ]
}
