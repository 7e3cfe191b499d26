// Goal: what lies at a deposit address on Bitcoin is what enough nodes have at a depth, whoever names it, and who brought it
// is told by the transactions themselves. Who gains by breaking it: an endpoint that shows a payment that there is not, or
// hides one behind made-up outputs; a denied account that pays through an address. Method: constructed chains behind the
// APIs of nodes and of Esplora, one of which lies.

import type { Hex } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { bitcoinDepositAddress, outputScript } from '@causeway/families/rules'
import {
  type BitcoinNode,
  ConstructedChain,
  fundingTransaction,
  keyOf,
  startBitcoinNode,
} from '@causeway/localnet/standIns/bitcoin'
import { Transaction } from 'bitcoinjs-lib'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { bitcoinQuotingChain } from '../../packages/families/src/bitcoin/quoting/bitcoinQuotingChain.ts'
import { bitcoinSettlingChain } from '../../packages/families/src/bitcoin/settling/bitcoinSettlingChain.ts'
import type { AddressReading } from '../../packages/families/src/shared/settlingChain.ts'
import { aSignal, chainOf, depository, user } from './bitcoinSupport/bitcoinBed.ts'

let nodes: readonly BitcoinNode[]
let chain: ConstructedChain
beforeAll(async () => {
  nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(new ConstructedChain())))
})
afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node.stop()))
})
beforeEach(() => {
  chain = new ConstructedChain()
  for (const node of nodes) {
    node.show(chain)
    node.fault(undefined)
    node.reset()
  }
})

const network = bitcoinNetworkOf('regtest')
const orderSigner: Hex = `0x${'05'.repeat(20)}`
const sweeper: Hex = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
let numbers = 0
function anAddress() {
  numbers += 1
  const nonce: Hex = `0x${numbers.toString(16).padStart(64, '0')}`
  const { address } = bitcoinDepositAddress(
    { orderSigner, sweeper, depositor: user.witness.address, nonce },
    network,
  )
  return { address, script: outputScript(address, network) }
}

function open(): AddressReading {
  const client = bitcoinQuotingChain.connect(
    chainOf({
      api: 'node',
      urls: nodes.map((node) => node.url('node')),
      lookup: nodes.map((node) => node.url('esplora')),
    }),
  )
  onTestFinished(() => client.close())
  const { addresses } = bitcoinSettlingChain({
    chain: { id: 'bitcoin', depository, network: 'regtest', finality: { mode: 'depth', blocks: 3 } },
    client,
    quoted: { config: { blockTimeMs: 600_000 }, currencies: [] },
  })
  if (addresses === undefined) throw new Error('the family reads addresses')
  return addresses
}
const { signal } = aSignal()
const coin = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'
const upTo = (height: bigint) => ({ currencies: [{ address: coin }], height })

test('blocks name each address that they pay with the sum of it', async () => {
  const [one, other] = [anAddress(), anAddress()]
  chain.mine(
    fundingTransaction({ script: one.script, value: 30_000n }, { script: other.script, value: 40_000n }),
  )
  chain.mine(fundingTransaction({ script: one.script, value: 20_000n }))
  const { blocks } = open()
  if (blocks === undefined) throw new Error('blocks show payments')
  const range = { known: 0n, from: 1n, to: 2n, transfersFrom: 1n }
  const { payments, last } = await blocks.payments(range, signal)
  const paid = payments.map(({ to, amount }) => [to, amount] as const)
  expect(new Map(paid)).toEqual(new Map([...new Map(paid), [one.address, 50_000n], [other.address, 40_000n]]))
  expect(last?.number).toBe(2n)
})

test('an address holds what blocks up to a height brought it, and nothing that was spent or is dust', async () => {
  const { address, script } = anAddress()
  const first = fundingTransaction({ script, value: 30_000n }, { script, value: 9_999n })
  chain.mine(first)
  chain.mine(fundingTransaction({ script, value: 50_000n }))
  chain.announce(fundingTransaction({ script, value: 70_000n }))
  const addresses = open()
  const held = async (height: bigint) =>
    (await addresses.held([address], upTo(height), signal))[0]?.get(coin) ?? 0n
  expect([await held(0n), await held(1n), await held(2n)]).toEqual([0n, 30_000n, 80_000n])
  const spend = new Transaction()
  spend.addInput(first.getHash(), 0)
  spend.addOutput(script, 1_000n)
  chain.mine(spend)
  expect(await held(3n)).toBe(50_000n)
})

test('what one node alone shows, or names, is not there, and hides nothing of the others', async () => {
  const { address, script } = anAddress()
  const lie = new ConstructedChain()
  for (let count = 0; count < 40; count += 1) lie.mine(fundingTransaction({ script, value: 10n ** 9n }))
  nodes[0]?.show(lie)
  chain.mine(fundingTransaction({ script, value: 30_000n }))
  expect(await open().held([address], upTo(1n), signal)).toEqual([new Map([[coin, 30_000n]])])
})

test('F-72: an address that every list refuses hides what lies at no other', async () => {
  const [crowded, honest] = [anAddress(), anAddress()]
  chain.mine(
    fundingTransaction({ script: crowded.script, value: 20_000n }, { script: honest.script, value: 30_000n }),
  )
  for (const node of nodes)
    node.fault((path, own) =>
      path.includes(crowded.address) ? { status: 400, text: 'Too many history entries' } : own,
    )
  const addresses = open()
  const held = [undefined, new Map([[coin, 30_000n]])]
  expect(await addresses.held([crowded.address, honest.address], upTo(1n), signal)).toEqual(held)
  await expect(addresses.held([crowded.address], upTo(1n), signal)).rejects.toThrow()
  for (const node of nodes) node.fault(undefined)
})

test('who paid is told by what was spent, whoever else it pays', async () => {
  const { address, script } = anAddress()
  const [denied, other] = [keyOf('denied'), keyOf('other')]
  const coins = [denied, other].map(({ witness }) =>
    fundingTransaction({ script: witness.script, value: 90_000n }),
  )
  chain.mine(...coins)
  const payment = new Transaction()
  for (const coin of coins) payment.addInput(coin.getHash(), 0)
  payment.addOutput(script, 60_000n)
  chain.mine(payment)
  expect(new Set(await open().payers?.(address, upTo(2n), signal))).toEqual(
    new Set([denied.witness.address, other.witness.address]),
  )
})

test('Q-107: the transaction that brought most is told, and who made it where one alone did', async () => {
  const { address, script } = anAddress()
  const [user, stranger] = [keyOf('a user'), keyOf('a stranger')]
  const coins = [user, stranger].map(({ witness }) =>
    fundingTransaction({ script: witness.script, value: 90_000n }),
  )
  chain.mine(...coins)
  const [paid, dust] = coins.map((coin, at) => {
    const payment = new Transaction()
    payment.addInput(coin.getHash(), 0)
    payment.addOutput(script, at === 0 ? 60_000n : 20_000n)
    return payment
  })
  if (paid === undefined || dust === undefined) throw new Error('both pay')
  chain.mine(paid)
  chain.mine(dust)
  const most = { transactionId: paid.getId(), amount: 60_000n, from: user.witness.address }
  const { height } = upTo(3n)
  const currency = { address: coin }
  expect(await open().transfer?.(address, { currency, height }, signal)).toEqual(most)
  const nobodys = anAddress().address
  expect(await open().transfer?.(nobodys, { currency, height }, signal)).toBeUndefined()
})

test('nobody brought what a miner was rewarded with', async () => {
  const { address, script } = anAddress()
  const reward = new Transaction()
  reward.addInput(new Uint8Array(32), 0xffff_ffff, 0xffff_ffff, Uint8Array.of(0x51, 0x51))
  reward.addOutput(script, 60_000n)
  chain.mine(reward)
  const addresses = open()
  expect(await addresses.held([address], upTo(1n), signal)).toEqual([new Map([[coin, 60_000n]])])
  expect(await addresses.payers?.(address, upTo(1n), signal)).toEqual([])
})
