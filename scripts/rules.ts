// Which tests prove each rule of the specification, by the last whole run of each suite on this machine.
import { readRepositoryFiles } from './checks/repositoryFiles.ts'
import { readRules } from './checks/specification.ts'
import { proofProblems, proofsText } from './rules/proofs.ts'
import { constructedRules, constructedRulesText } from './storedBodies/constructedRules.ts'
import { storedBodies } from './storedBodies/families.ts'
import { npmTest, readKeptRuns } from './testRunner/keptRuns.ts'
import { suites } from './testRunner/suites.ts'

/** @returns whether every rule has a test that passed, and every id in a title is a rule */
export function printRules(): boolean {
  const rules = readRules(readRepositoryFiles(process.cwd()))
  const runs = readKeptRuns(process.cwd())
  const problems = proofProblems(rules, runs)
  console.log(proofsText(rules, runs))
  console.log(`\n${constructedRulesText(constructedRules(storedBodies))}`)
  for (const { suite, endedAtMs } of runs) console.log(`${suite} ended ${new Date(endedAtMs).toISOString()}`)
  const missing = [npmTest, ...suites].filter((name) => runs.every(({ suite }) => suite !== name))
  if (missing.length > 0) console.log(`no whole run of: ${missing.join(', ')}; npm run test:all runs all`)
  for (const problem of problems) console.log(`FAIL ${problem}`)
  console.log(`${rules.length} rules, ${problems.length} problems`)
  return problems.length === 0
}
