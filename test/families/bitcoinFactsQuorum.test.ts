// Goal: no endpoint of a Bitcoin chain changes a fact: it is outvoted, or the reading is refused by type. Method:
// stand-ins of bitcoind and Esplora over constructed chains (`provenance: constructed`) that lie, fork, fall
// silent or change between two rounds. CAUSEWAY_FAULTS=1 runs the long form.
// @source ledger-and-safety.md 4.3, 5.3 R1
import { DomainError } from '@causeway/core'
import {
  type BitcoinApi,
  type BitcoinNode,
  bitcoinBodies,
  ConstructedChain,
  merkleBlock,
  startBitcoinNode,
} from '@causeway/localnet/standIns/bitcoin'
import type { Transaction } from 'bitcoinjs-lib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openBitcoinChain } from '../../packages/families/src/bitcoin/reading/openBitcoinChain.ts'
import type { FamilyChain } from '../../packages/families/src/shared/familyChain.ts'
import {
  aSignal,
  type BitcoinChainOptions,
  chainOf,
  depositoryKey,
  funding,
  native,
  openChain,
  orderId,
  paying,
  saying,
  user,
} from './bitcoinSupport/bitcoinBed.ts'
import { mutateText } from './bitcoinSupport/mutateText.ts'
import { executed, psbtOf, type Spendable, withdrawalOf } from './bitcoinSupport/withdrawals.ts'

const source = funding({ script: user.witness.script, value: 9_000n })
const deposit = paying(
  [{ txid: source.getId(), vout: 0 }],
  [
    { script: depositoryKey.legacy.script, value: 5_000n },
    saying(orderId),
    { script: user.legacy.script, value: 70n },
  ],
)
const inputs: readonly Spendable[] = [{ from: deposit, vout: 0, key: depositoryKey, kind: 'legacy' }]
const psbt = psbtOf({ inputs })
const withdrawing = executed(psbt, inputs)

/** The deposit and the withdrawal in blocks of their own, final; `gap` moves them to other blocks. */
function chainWith(gap = 0, more: readonly Transaction[] = []): ConstructedChain {
  const chain = new ConstructedChain()
  chain.mineEmpty(gap)
  chain.mine(source, ...more)
  chain.mine(deposit, ...more.map((one) => paying([{ txid: one.getId(), vout: 0 }], [])))
  chain.mine(withdrawing)
  chain.mineEmpty(4)
  return chain
}

const truth = chainWith()
let nodes: readonly BitcoinNode[]
beforeAll(async () => {
  nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(truth)))
})
afterEach(() => {
  for (const node of nodes) {
    node.fault(undefined)
    node.show(truth)
    node.reset()
  }
})
afterAll(() => Promise.all((nodes ?? []).map((node) => node.stop())))

const first = () => nodes[0] ?? fail()
const fail = (): never => {
  throw new Error('no node')
}

const open = (api: BitcoinApi, count: number, more: Partial<BitcoinChainOptions> = {}) =>
  openChain({ api, urls: nodes.slice(0, count).map((node) => node.url(api)), ...more })

const questions = {
  deposits: ({ reader }: FamilyChain) => reader.readDeposits({ transactionId: deposit.getId() }, aSignal()),
  payment: ({ reader }: FamilyChain) =>
    reader.readPayment(
      {
        transactionId: deposit.getId(),
        orderId,
        extraData: '0x',
        payments: [{ recipient: user.legacy.address, currency: native }],
      },
      aSignal(),
    ),
  withdrawal: ({ reader }: FamilyChain) =>
    reader.readWithdrawal({ withdrawal: withdrawalOf(psbt), transactionId: withdrawing.getId() }, aSignal()),
}
const names = ['deposits', 'payment', 'withdrawal'] as const
const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 10_000 : 170
const longest = { timeout: isLongForm ? 3_600_000 : 300_000 }

/** Facts without what only says who agreed. */
function signed(facts: object): object {
  return { ...facts, evidence: undefined }
}

async function outcomeOf(work: Promise<object>): Promise<object | DomainError> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

describe.each(['node', 'esplora'] as const)('through %s', (api) => {
  test.each(names)('a fuzzed endpoint beside two others changes nothing: %s', longest, async (name) => {
    const honest = signed(await questions[name](open(api, 3)))
    for (let seed = 0; seed < mutations; seed += 1) {
      let answers = 0
      first().fault((_what, answer) => {
        answers += 1
        return (answers + seed) % 4 === 0 ? { ...answer, text: mutateText(answer.text, seed) } : answer
      })
      const chain = openBitcoinChain(chainOf({ api, urls: nodes.map((node) => node.url(api)) }), {
        finalEntriesMax: 0,
      })
      expect(signed(await questions[name](chain)), `seed ${seed}`).toEqual(honest)
      await chain.close()
    }
  })

  test.each(names)(
    'F-132: a fuzzed endpoint alone is refused by type or tells the truth: %s',
    longest,
    async (name) => {
      const honest = signed(await questions[name](open(api, 1)))
      const seen = { facts: 0, refused: 0 }
      for (let seed = 0; seed < mutations; seed += 1) {
        let answers = 0
        first().fault((_what, answer) => {
          answers += 1
          return (answers + seed) % 4 === 0 ? { ...answer, text: mutateText(answer.text, seed) } : answer
        })
        const chain = openBitcoinChain(chainOf({ api, urls: [first().url(api)] }), { finalEntriesMax: 0 })
        const outcome = await outcomeOf(questions[name](chain))
        await chain.close()
        if (outcome instanceof DomainError) seen.refused += 1
        else {
          seen.facts += 1
          // The outcome of a withdrawal is taken from one node; its owner and amount never are.
          const word = name === 'withdrawal' ? { status: expect.anything() } : {}
          const mayBeAbsent = name === 'withdrawal' ? { executingTransactionId: undefined } : {}
          expect({ ...signed(outcome), ...mayBeAbsent }, `seed ${seed}`).toEqual({
            ...honest,
            ...word,
            ...mayBeAbsent,
          })
        }
      }
      expect(seen.refused).toBeGreaterThan(mutations / 4)
    },
  )

  test.each([
    ['no JSON', 200, 'nothing'],
    ['an empty body', 200, ''],
    ['an error page', 502, '<html>'],
    ['too many requests', 429, '{}'],
    ['forbidden', 403, '{}'],
  ])(
    'an endpoint that answers with %s is refused, and outvoted by two others',
    async (_name, status, text) => {
      first().fault(() => ({ status, text }))
      for (const name of names) {
        await expect(questions[name](open(api, 1))).rejects.toMatchObject({ kind: 'upstream_unavailable' })
        await questions[name](open(api, 3))
      }
    },
  )

  test('a silent endpoint delays nobody for ever', async () => {
    first().fault(() => 'hang')
    await expect(
      open(api, 1).reader.readDeposits(
        { transactionId: deposit.getId() },
        { signal: AbortSignal.timeout(500) },
      ),
    ).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
    await questions.deposits(open(api, 3))
  })

  test('endpoints on other forks are outvoted, or contradict each other', async () => {
    const [one, two, three] = nodes
    three?.show(chainWith(1))
    const facts = await questions.deposits(open(api, 3))
    expect(facts.evidence.agreeingEndpoints).toHaveLength(2)
    two?.show(chainWith(2))
    await expect(questions.deposits(open(api, 3))).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
    one?.show(new ConstructedChain())
    await expect(questions.deposits(open(api, 3))).rejects.toBeInstanceOf(DomainError)
  })

  test('one that is far ahead makes nothing final, and one that lags stops nothing', async () => {
    const young = new ConstructedChain()
    young.mine(source)
    young.mine(deposit)
    const ahead = chainWith(0)
    ahead.mineEmpty(1_000)
    const [one, two, three] = nodes
    one?.show(ahead)
    for (const node of [two, three]) node?.show(young)
    await expect(questions.deposits(open(api, 3))).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    for (const node of [one, two]) node?.show(truth)
    expect((await questions.deposits(open(api, 3))).deposits).toHaveLength(1)
  })

  test('a chain that changes between any two answers gives facts of one of them, or a refusal', async () => {
    const other = chainWith(3)
    const hashes = [truth, other].flatMap((chain) =>
      Array.from({ length: chain.tipHeight }, (_, height) => chain.blockAt(height)?.hash),
    )
    for (const name of names) {
      for (let position = 0; position < 8; position += 1) {
        let answers = 0
        first().show(truth)
        first().fault((_what, answer) => {
          answers += 1
          if (answers === position + 1) first().show(other)
          return answer
        })
        const outcome = await outcomeOf(questions[name](open(api, 1)))
        if ('evidence' in outcome) expect(hashes).toContain(Object(outcome.evidence).blockHash)
      }
    }
  })

  test.each(['the block header', 'the proof'])('%s of another block is no answer', async (which) => {
    const other = truth.blockAt(1)?.header.toString('hex')
    first().fault((what, answer) => {
      const isHeader =
        what.endsWith('/header') || (what === 'getblockheader' && !answer.text.includes('height'))
      const isProof = what.includes('proof')
      if (which === 'the proof' ? !isProof : !isHeader) return answer
      const text = api === 'node' ? answer.text.replace(/"result":"[0-9a-f]+"/, `"result":"${other}"`) : other
      return { status: 200, text: text ?? '' }
    })
    await expect(questions.deposits(open(api, 1))).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })

  test.each([
    ['another block', 1, 0],
    ['another transaction of the block', 2, 0],
  ])('a proof of %s is no answer, however well-formed', async (_name, height, position) => {
    const block = truth.blockAt(height) ?? fail()
    const proof = merkleBlock(block, block.transactions[position]?.getId() ?? fail()).toString('hex')
    first().fault((what, answer) => {
      if (!what.includes('proof')) return answer
      const text = answer.text.replace(/"result":"[0-9a-f]+"/, `"result":"${proof}"`)
      return { status: 200, text: api === 'node' ? text : proof }
    })
    await expect(questions.deposits(open(api, 1))).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })

  test('a proof that is not offered is not missed', async () => {
    first().fault((what, answer) => {
      if (!what.includes('proof')) return answer
      return api === 'node'
        ? {
            status: 500,
            text: answer.text.replace(
              /"result":"[0-9a-f]+","error":null/,
              `"result":null,"error":${JSON.stringify(bitcoinBodies.refusals.body.noMethod)}`,
            ),
          }
        : { status: 404, text: 'no' }
    })
    expect((await questions.deposits(open(api, 1))).deposits).toHaveLength(1)
  })

  test('what is final is read once while it is remembered', async () => {
    const chain = open(api, 1, { finalEntriesMax: 10 })
    await Promise.all([questions.deposits(chain), questions.deposits(chain), questions.deposits(chain)])
    const cold = first().requests()
    await questions.deposits(chain)
    await questions.payment(chain)
    expect(first().requests()).toBe(cold)
    chain.reader.forget()
    await questions.deposits(chain)
    expect(first().requests()).toBe(2 * cold)
  })

  test.each(names)('the requests of a cold reading are counted: %s', async (name) => {
    await questions[name](open(api, 1))
    const expected = {
      node: { deposits: 2, payment: 2, withdrawal: 2 },
      esplora: { deposits: 8, payment: 8, withdrawal: 10 },
    }
    expect(first().requests()).toBe(expected[api][name])
  })

  test('the newest final block and the hash of any are told; a block that does not exist is none', async () => {
    const { finalBlocks } = open(api, 3).reader
    const newest = await finalBlocks?.readNewest(aSignal())
    const height = truth.tipHeight - 2
    expect(newest).toEqual({ number: BigInt(height), hash: truth.blockAt(height)?.hash })
    expect(await finalBlocks?.readHash(1n, aSignal())).toBe(truth.blockAt(1)?.hash)
    expect(await finalBlocks?.readHash(10_000n, aSignal())).toBeUndefined()
  })

  test('the network is told by its first block', async () => {
    expect(await open(api, 3).verify(aSignal().signal)).toEqual([])
    expect(await open(api, 1).verifyLocal(aSignal().signal)).toEqual([])
    const depositories = { depository: '1KT3zCYUrmQxjcveUNs1Rs7WcXDcPQZ4av', additionalDepositories: [] }
    const onMainnet = open(api, 1, { change: { network: 'mainnet', ...depositories } })
    expect(await onMainnet.verify(aSignal().signal)).toEqual([
      expect.stringMatching(/^endpoint of bitcoin: 127\.0\.0\.1:\d+#1 is on another network$/),
    ])
    first().fault(() => ({ status: 503, text: '' }))
    await expect(open(api, 1).verify(aSignal().signal)).rejects.toBeInstanceOf(DomainError)
    await expect(open(api, 1).verifyLocal(aSignal().signal)).rejects.toBeInstanceOf(DomainError)
  })
})

test('a node that cannot know every transaction does not say that one is missing', async () => {
  for (const message of bitcoinBodies.withoutIndex.body) {
    first().fault((what, answer) =>
      what === 'getrawtransaction'
        ? {
            status: 500,
            text: JSON.stringify(
              bitcoinBodies.refusedWith500.body(JSON.parse(answer.text).id, { code: -5, message }),
            ),
          }
        : answer,
    )
    await expect(questions.deposits(open('node', 1))).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  }
})
