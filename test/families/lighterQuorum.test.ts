// Goal: no fewer Lighter endpoints than the threshold ever decide, what is executed is read once, and a question
// costs one round. Method: one to three stand-ins that fail, differ or lie in scripted ways, requests counted at
// each; then random changes of answers on the only endpoint and on one of three.
// CAUSEWAY_FAULTS=1 runs 10,000 for each question.
import { DomainError, Secret } from '@causeway/core'
import { encodeLighterWithdrawal } from '@causeway/families/rules'
import { type Answer, type Fault, type LighterNode, lighterBodies } from '@causeway/localnet/standIns/lighter'
import { describe, expect, test } from 'vitest'
import { mutateText } from './bitcoinSupport/mutateText.ts'
import {
  aSignal,
  depository,
  keyOf,
  openChain,
  orderId,
  put,
  startNodes,
  transfer,
  user,
  withdrawalOf,
} from './lighterSupport/lighterBed.ts'

type Reader = ReturnType<typeof openChain>['reader']
type Ask = (reader: Reader) => Promise<unknown>

/** A deposit, a payment and an executed withdrawal on all nodes alike. */
function questionsOf(nodes: readonly LighterNode[]): Readonly<Record<string, Ask>> {
  const payout = transfer({
    FromAccountIndex: BigInt(depository),
    ToAccountIndex: BigInt(user),
    ExpiredAt: 4_000_000_000_000n,
  })
  const [deposit, payment] = [put(nodes, transfer()), put(nodes, payout)]
  for (const node of nodes) node.setAccount(user, keyOf('ab'))
  const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout))
  const payments = [{ recipient: user, currency: '0' }]
  return {
    deposit: (reader) => reader.readDeposits({ transactionId: deposit }, aSignal()),
    payment: (reader) =>
      reader.readPayment({ transactionId: payment, orderId, extraData: '0x', payments }, aSignal()),
    withdrawal: (reader) => reader.readWithdrawal({ withdrawal, transactionId: payment }, aSignal()),
    key: async (reader) => ({ key: await reader.readOwnerKey?.(user, aSignal()) }),
  }
}
const names = ['deposit', 'payment', 'withdrawal', 'key']
const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 250
const longest = isLongForm ? 3_600_000 : 300_000

function asked(questions: Readonly<Record<string, Ask>>, name: string): Ask {
  const ask = questions[name]
  if (ask === undefined) throw new Error('no such question')
  return ask
}

/** Facts without the names of the endpoints. */
const facts = (answer: unknown) => ({
  ...Object(answer),
  evidence: { ...Object(Object(answer).evidence), agreeingEndpoints: [] },
})

const otherErrors = lighterBodies.otherErrors.body
const say =
  (text: string, status = 200): Fault =>
  () => ({ status, text })

describe.each(names)('%s', (name) => {
  test.each<[string, Fault]>([
    ['a page with status 200', say('<html>')],
    ['half an answer', (_path, truth) => ({ ...truth, text: truth.text.slice(0, 40) })],
    ['nothing', say('')],
    ['null', say('null')],
    ['a list', say('[]')],
    ['another code', say(otherErrors.internal)],
    ['a code that is a text', (_path, truth) => ({ ...truth, text: truth.text.replace('200', '"200"') })],
    ['an invalid parameter', say(otherErrors.invalidParameter, 400)],
    ['status 400 without a body', say('', 400)],
    ['status 404 of another server', say('not here', 404)],
    ['status 429', () => ({ status: 429, text: '', headers: { 'retry-after': '1' } })],
    ['status 500', say('', 500)],
    ['a redirect', () => ({ status: 302, text: '', headers: { location: 'http://127.0.0.1:9/' } })],
    ['a cut connection', () => 'reset'],
    ['2 MiB of white space', (_path, truth) => ({ ...truth, text: ' '.repeat(2 ** 21) + truth.text })],
    ['65 MiB', say(' '.repeat(65 * 2 ** 20))],
  ])('an endpoint with %s did not answer, and two others do', async (_what, fault) => {
    const nodes = await startNodes(3)
    const ask = asked(questionsOf(nodes), name)
    const truth = facts(await ask(openChain(nodes).reader))
    nodes[0]?.fault(fault)
    await expect(ask(openChain(nodes.slice(0, 1)).reader)).rejects.toMatchObject({
      kind: 'upstream_unavailable',
      retryable: true,
    })
    expect(facts(await ask(openChain(nodes).reader))).toEqual(truth)
  })

  test('an endpoint that never answers is not waited for by the two others', async () => {
    const nodes = await startNodes(3)
    const ask = asked(questionsOf(nodes), name)
    nodes[0]?.fault(() => 'hang')
    await expect(ask(openChain(nodes).reader)).resolves.toBeDefined()
  })

  test('a delay is read all the same', async () => {
    const nodes = await startNodes()
    const ask = asked(questionsOf(nodes), name)
    nodes[0]?.fault(async (_path, truth) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return truth
    })
    await expect(ask(openChain(nodes).reader)).resolves.toBeDefined()
  })

  test('changed answers of the only endpoint: facts or a typed refusal', {
    timeout: longest,
  }, async () => {
    const nodes = await startNodes()
    const ask = asked(questionsOf(nodes), name)
    let refused = 0
    for (let seed = 0; seed < mutations / 2; seed += 1) {
      nodes[0]?.fault((_path, truth) => ({ ...truth, text: mutateText(truth.text, seed) }))
      refused += await refusals(nodes, ask, `body ${seed}`)
      nodes[0]?.fault((_path, truth) => ({ ...truth, text: inInfo(truth.text, seed) }))
      refused += await refusals(nodes, ask, `info ${seed}`)
    }
    expect(refused).toBeGreaterThan(mutations / 10)
  })

  test('changed answers of one of three endpoints change nothing', { timeout: longest }, async () => {
    const nodes = await startNodes(3)
    const ask = asked(questionsOf(nodes), name)
    const truth = facts(await ask(openChain(nodes).reader))
    for (let seed = 0; seed < mutations / 2; seed += 1) {
      nodes[0]?.fault((_path, answer) => ({ ...answer, text: mutateText(answer.text, seed) }))
      const chain = openChain(nodes)
      expect(facts(await ask(chain.reader)), `mutation ${seed}`).toEqual(truth)
      await chain.close()
    }
  })

  test('one that lies well is outvoted, and two different liars are no quorum', async () => {
    const nodes = await startNodes(3)
    const ask = asked(questionsOf(nodes), name)
    const truth = facts(await ask(openChain(nodes).reader))
    nodes[0]?.fault(lie(name, 1))
    expect(facts(await ask(openChain(nodes).reader))).toEqual(truth)
    nodes[1]?.fault(lie(name, 2))
    await expect(ask(openChain(nodes).reader)).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
  })
})

/** Another amount or key; for a withdrawal another outcome. */
const lie =
  (name: string, digit: 1 | 2): Fault =>
  (_path, truth) => ({
    ...truth,
    text:
      name === 'withdrawal'
        ? truth.text.replace('"status":3', `"status":${digit === 1 ? 1 : 4}`)
        : truth.text
            .replace('\\"Amount\\":1000000', `\\"Amount\\":900000${digit}`)
            .replace('abab', `ab${digit}b`),
  })

/** Changes what was signed, inside the text that it travels as. */
function inInfo(text: string, seed: number): string {
  try {
    const body: unknown = JSON.parse(text)
    const info = mutateText(String(Object(body).info), seed)
    return JSON.stringify({ ...Object(body), info })
  } catch {
    return text
  }
}

/** 1 for a refusal. */
async function refusals(nodes: readonly LighterNode[], ask: Ask, what: string): Promise<number> {
  const chain = openChain(nodes)
  const answer = await ask(chain.reader).catch((error: unknown) => error)
  await chain.close()
  if (!(answer instanceof Error)) return 0
  expect(answer, what).toBeInstanceOf(DomainError)
  return 1
}

describe('a quorum', () => {
  const fail: Fault = () => 'reset'

  test('of three endpoints stands with two and not with one', async () => {
    const nodes = await startNodes(3)
    const transactionId = put(nodes, transfer())
    nodes[0]?.fault(fail)
    const { evidence } = await openChain(nodes).reader.readDeposits({ transactionId }, aSignal())
    expect(evidence.agreeingEndpoints).toHaveLength(2)
    nodes[1]?.fault(fail)
    await expect(openChain(nodes).reader.readDeposits({ transactionId }, aSignal())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })

  test('counts a transaction that is proven for some and executed for others as one', async () => {
    const nodes = await startNodes(2)
    const transactionId = put(nodes, transfer())
    put(nodes.slice(1), transfer(), { hash: transactionId, status: 2 })
    const { evidence } = await openChain(nodes).reader.readDeposits({ transactionId }, aSignal())
    expect(evidence.agreeingEndpoints).toHaveLength(2)
  })

  test('that not all have executed yet asks to wait', async () => {
    const nodes = await startNodes(2)
    const transactionId = put(nodes, transfer())
    put(nodes.slice(1), transfer(), { hash: transactionId, status: 1 })
    await expect(openChain(nodes).reader.readDeposits({ transactionId }, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
      retryable: true,
    })
  })

  test('does not sign a withdrawal that it sees in two states', async () => {
    const nodes = await startNodes(2)
    const payout = transfer({ FromAccountIndex: BigInt(depository), ToAccountIndex: BigInt(user) })
    const transactionId = put(nodes, payout)
    put(nodes.slice(1), payout, { hash: transactionId, status: 4 })
    const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout))
    await expect(
      openChain(nodes).reader.readWithdrawal({ withdrawal, transactionId }, aSignal()),
    ).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
  })
})

describe('what a question costs one endpoint', () => {
  test.each<[string, number]>([
    ['deposit', 1],
    ['payment', 1],
    ['withdrawal', 1],
    ['key', 1],
  ])('%s: %i request', async (name, requests) => {
    const nodes = await startNodes(3)
    const ask = asked(questionsOf(nodes), name)
    await ask(openChain(nodes, { rpcThreshold: 3 }).reader)
    expect(nodes.map((node) => node.asked().length)).toEqual([requests, requests, requests])
  })

  test('a withdrawal that is looked for: three pages and each transfer', async () => {
    const nodes = await startNodes()
    const payout = transfer({ FromAccountIndex: BigInt(depository), ToAccountIndex: BigInt(user) })
    put(nodes, payout)
    const explorerApiUrl = new Secret(nodes[0]?.explorerUrl ?? '')
    const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout))
    await openChain(nodes, { additionalData: { explorerApiUrl } }).reader.readWithdrawal(
      { withdrawal },
      aSignal(),
    )
    expect(nodes[0]?.asked()).toHaveLength(4)
  })

  test('once executed a transaction is asked for once, however many ask, until it is forgotten', async () => {
    const [node] = await startNodes()
    if (node === undefined) throw new Error('no node')
    const transactionId = put([node], transfer())
    const { reader } = openChain([node], {}, 10)
    const ask = () => reader.readDeposits({ transactionId }, aSignal())
    await Promise.all([ask(), ask(), ask()])
    await ask()
    expect(node.asked()).toHaveLength(1)
    reader.forget()
    await ask()
    expect(node.asked()).toHaveLength(2)
  })

  test.each([1, 4])('a transaction with status %i is asked for again', async (status) => {
    const [node] = await startNodes()
    if (node === undefined) throw new Error('no node')
    const transactionId = put([node], transfer(), { status })
    const { reader } = openChain([node], {}, 10)
    await expect(reader.readDeposits({ transactionId }, aSignal())).rejects.toBeInstanceOf(DomainError)
    put([node], transfer(), { hash: transactionId })
    expect(await reader.readDeposits({ transactionId }, aSignal())).toMatchObject({ kind: 'deposits' })
  })
})

test('a caller that gives up is told so by name', async () => {
  const nodes = await startNodes()
  const transactionId = put(nodes, transfer())
  nodes[0]?.fault((): Answer | 'hang' => 'hang')
  const leaving = new AbortController()
  const reading = openChain(nodes).reader.readDeposits({ transactionId }, leaving)
  leaving.abort()
  await expect(reading).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
})
