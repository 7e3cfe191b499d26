// Goal: no sequence of calls, by whoever and however reentered, pays an id twice for a filler, or after he closed it. Attack:
// the sequence that random testing does not try. Method: the functions that write the record, taken from the source as they
// stand, are given to Solidity's SMTChecker with an invariant that each of them must keep from any state. Unknown code runs
// only after the record is written, so what it calls is a further step of the same induction. Each guard, taken out, must
// break the proof.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { init } from 'z3-solver'
import { z } from 'zod'

const source = readFileSync(new URL('../contracts/chain/FillContract.sol', import.meta.url), 'utf8')

/** A declaration of the source with its block. */
function declaration(head: string): string {
  const start = source.indexOf(head)
  if (start < 0) throw new Error(`the fill contract has no ${head}`)
  for (let end = source.indexOf('{', start), depth = 0; end < source.length; end += 1) {
    if (source[end] === '{') depth += 1
    if (source[end] === '}') depth -= 1
    if (depth === 0) return source.slice(start, end + 1)
  }
  throw new Error(`${head} does not end`)
}

/** The first statement of a payment, before which nothing else may stand. */
function firstStatement(head: string): string {
  const [, statement = ''] = /\{\s*([^;]+;)/.exec(declaration(head)) ?? []
  return statement
}

const afterPayment = `assert(block.timestamp <= deadline);
    if (msg.sender == watchedFiller && id == watchedId) payments += 1;`

/**
 * The record of one filler and id, `watched`, which may be any. `payments` counts what the source cannot forget. The
 * checker knows neither errors nor events, and the proof needs no reasons.
 */
const model = `pragma solidity 0.8.37;
contract Model {
  ${declaration('enum State')}
  mapping(address filler => mapping(bytes32 id => State)) public stateOf;
  address private immutable watchedFiller;
  bytes32 private immutable watchedId;
  uint256 private payments;
  constructor(address filler, bytes32 id) { watchedFiller = filler; watchedId = id; }
  modifier keepsInvariant(bytes32 id) {
    require(holds());
    State before = stateOf[msg.sender][id];
    _;
    assert(holds());
    assert(before == State.Open || stateOf[msg.sender][id] == before);
  }
  function holds() private view returns (bool) {
    State state = stateOf[watchedFiller][watchedId];
    return payments == (state == State.Paid ? 1 : 0);
  }
  function pay(bytes32 id, uint256 deadline) external keepsInvariant(id) {
    ${firstStatement('function pay(')}
    ${afterPayment}
  }
  function fill(bytes32 id, uint256 deadline) external keepsInvariant(id) {
    ${firstStatement('function fill(')}
    ${afterPayment}
  }
  ${declaration('function close(').replace('external', 'external keepsInvariant(id)')}
  ${declaration('function _record(')}
}`
  .replaceAll(/revert \w+\([^)]*\);/g, 'revert();')
  .replaceAll(/emit [^;]+;/g, '')

const outputSchema = z.object({ errors: z.array(z.object({ errorCode: z.string() })) })
// CAST: the package has no types for `compile`; its result is parsed.
const solc = createRequire(import.meta.url)('solc') as {
  compile(input: string, callbacks: { smtSolver(query: string): { contents: string } }): string
}

/** Codes of what the checker says, where `answer` gives a solver's answer to a query. */
function check(text: string, answer: (query: string) => string): readonly string[] {
  const modelChecker = {
    contracts: { model: ['Model'] },
    engine: 'bmc',
    targets: ['assert'],
    solvers: ['smtlib2'],
    showProvedSafe: true,
    showUnproved: true,
  }
  const input = { language: 'Solidity', sources: { model: { content: text } }, settings: { modelChecker } }
  const output = solc.compile(JSON.stringify(input), { smtSolver: (query) => ({ contents: answer(query) }) })
  return outputSchema.parse(JSON.parse(output)).errors.map(({ errorCode }) => errorCode)
}

const proved = '2961'
const unproved = '7812'
/** The engine is deprecated, no licence is named, a function could be stricter, and a parameter is unused. */
const ignored: ReadonlySet<string> = new Set(['3993', '1878', '2018', '5667'])

/** The checker's verdict on each assertion. The solver answers later than the compiler asks, so it compiles again. */
async function verdicts(text: string): Promise<readonly string[]> {
  const { Z3 } = await init()
  const answers = new Map<string, string>()
  for (;;) {
    const unanswered = new Set<string>()
    const codes = check(text, (query) => {
      const answer = answers.get(query)
      if (answer === undefined) unanswered.add(query)
      return answer ?? 'unknown'
    })
    if (unanswered.size === 0) return codes.filter((code) => !ignored.has(code))
    for (const query of unanswered) {
      const context = Z3.mk_context(Z3.mk_config())
      const [verdict] = (await Z3.eval_smtlib2_string(context, query)).split('\n')
      if (verdict !== 'sat' && verdict !== 'unsat') throw new Error(`the solver ends with ${verdict}`)
      // The checker does not parse every counterexample of this solver: it is told of none.
      answers.set(query, verdict === 'unsat' ? 'unsat' : 'unknown')
      Z3.del_context(context)
    }
  }
}

test('P-63: no call pays an id twice, after it was closed or after its deadline', async () => {
  expect(await verdicts(model)).toEqual(Array.from({ length: 4 }, () => proved))
})

test.each([
  'if (block.timestamp > deadline) revert();',
  'if (state == State.Paid) revert();',
  'if (state == State.Closed) revert();',
  'if (stateOf[msg.sender][id] == State.Paid) revert();',
  'stateOf[msg.sender][id] = State.Paid;',
])('P-63: without `%s` there is no proof', async (guard) => {
  expect(model.split(guard)).toHaveLength(2)
  expect(await verdicts(model.replace(guard, ''))).toContain(unproved)
})
