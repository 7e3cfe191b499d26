// Goal: no endpoint of a Bitcoin chain changes a fact: it is outvoted, or the reading is refused by type. Method:
// stand-ins of bitcoind and Esplora over constructed chains (`provenance: constructed`) that are ahead, show another
// block or change between two rounds.
// @source rules P-107, F-132
import { DomainError } from '@causeway/core'
import {
  type BitcoinApi,
  type BitcoinNode,
  bitcoinBodies,
  ConstructedChain,
  merkleBlock,
  startBitcoinNode,
} from '@causeway/localnet/standIns/bitcoin'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FamilyChain } from '../../packages/families/src/shared/familyChain.ts'
import {
  aSignal,
  type BitcoinChainOptions,
  native,
  openChain,
  orderId,
  user,
} from './bitcoinSupport/bitcoinBed.ts'
import { chainWith, deposit, psbt, source, withdrawing } from './bitcoinSupport/facts.ts'
import { withdrawalOf } from './bitcoinSupport/withdrawals.ts'

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
async function outcomeOf(work: Promise<object>): Promise<object | DomainError> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

describe.each(['node', 'esplora'] as const)('through %s', (api) => {
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

  test.each(['the block header', 'the proof'])('F-132: %s of another block is no answer', async (which) => {
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
  ])('F-132: a proof of %s is no answer, however well-formed', async (_name, height, position) => {
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
