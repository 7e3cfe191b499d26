// Goal: what quotes, settlement and payments make of the stand-in of bitcoind they make of a real one: outputs and fees are
// read, the step of a deposit is taken by a node's own rules and found in its block, and a line of payments is mined, raised,
// cancelled and remembered. Who gains by breaking it: a user whose signed step no node takes, one who is paid by two
// transactions. Method: `npm test -- --suite=bitcoind` on a real node on regtest, with its rules for fees and replacements.

import { type Hex, Secret } from '@causeway/core'
import type { FeerateModel } from '@causeway/core/config'
import { bitcoinNetworkOf, codecOf } from '@causeway/core/encodings'
import { BitcoinFees, bitcoinQuoting, type OriginRoute, outputScript } from '@causeway/families/rules'
import { keyOf, type TestKey } from '@causeway/localnet/standIns/bitcoin'
import { Psbt, Transaction } from 'bitcoinjs-lib'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { linePayingFamily } from '../../../packages/chains/src/chainFamilies.ts'
import type { LinePayingChain } from '../../../packages/families/src/bitcoin/paying/linePayingChain.ts'
import { bitcoinQuotingChain } from '../../../packages/families/src/bitcoin/quoting/bitcoinQuotingChain.ts'
import { bitcoinSettlingChain } from '../../../packages/families/src/bitcoin/settling/bitcoinSettlingChain.ts'
import type { ChainClient } from '../../../packages/rpc/src/client.ts'
import { aSignal, chainOf, depository, native, openChain, user } from '../bitcoinSupport/bitcoinBed.ts'
import { closingOf, idOf, paymentOf, signAt } from '../bitcoinSupport/payingBed.ts'
import { elsewhere } from '../bitcoinSupport/withdrawals.ts'
import { type Bitcoind, startBitcoind } from './bitcoind.ts'

const walletKey: Hex = `0x${'5e'.repeat(32)}`
const miner = keyOf('miner')
const nobody = keyOf('nobody')
const quoting = bitcoinQuoting.bind({
  chainId: 8_253_038,
  network: 'regtest',
  depository,
  codec: codecOf({ vmType: 'bitcoin-vm', network: 'regtest' }),
})
let node: Bitcoind
let coins: readonly Transaction[]
let numbers = 0

beforeAll(async () => {
  node = await startBitcoind({ relaysAsUsual: true })
  await node.mine(130, miner.witness.address)
  coins = await Promise.all(
    Array.from({ length: 25 }, async (_, index) => {
      const block = Object(await node.call('getblock', await node.call('getblockhash', index + 1), 1))
      return Transaction.fromHex(String(await node.call('getrawtransaction', block.tx[0], false)))
    }),
  )
})
afterAll(() => node?.stop())

const scriptOf = (address: string) => outputScript(address, bitcoinNetworkOf('regtest'))
const mine = (count = 1) => node.mine(count, nobody.legacy.address)
const chain = () => chainOf({ api: 'node', urls: [node.url] })

function connect(): ChainClient {
  const client = bitcoinQuotingChain.connect(chain())
  onTestFinished(() => client.close())
  return client
}

/** Gives an account coins of a block. */
async function fund(script: Uint8Array, ...values: readonly bigint[]): Promise<Transaction> {
  const from = coins[numbers]
  numbers += 1
  if (from === undefined) throw new Error('no coin left')
  const change = from.outs.reduce((sum, { value }) => sum + value, 0n)
  const spent = values.reduce((sum, value) => sum + value, 10_000n)
  const outputs = [
    ...values.map((value) => ({ script, value })),
    { script: nobody.witness.script, value: change - spent },
  ]
  const funding = elsewhere([{ from, vout: 0, key: miner, kind: 'witness' }], outputs)
  await node.call('sendrawtransaction', funding.toHex())
  await mine()
  return funding
}

describe('quotes', () => {
  const feeModel: FeerateModel = {
    kind: 'feerate',
    targetBlocks: 2,
    minSatPerKvb: 2_000n,
    maxSatPerKvb: 100_000n,
    markupBps: 1_000,
    leastOutputSat: 0n,
  }

  test('have head and fees of the node, and the floor while it has no estimate', async () => {
    const { network: family } = bitcoinQuotingChain
    const currencies = [{ address: native, decimals: 8 }]
    if (family === undefined) throw new Error('it has a reader')
    const { head, fees } = await family
      .reader({
        client: connect(),
        depository,
        network: 'regtest',
        fillWallet: undefined,
        currencies,
        feeModel,
        hubChainId: '1',
        fillContract: undefined,
      })
      .read({ ...aSignal(), timeoutMs: 10_000 })
    const { blocks, time } = Object(await node.call('getblockchaininfo'))
    expect(head).toEqual({ number: BigInt(blocks), timestampSeconds: time })
    expect(fees).toEqual(new BitcoinFees({ satPerKvb: 2_000n }))
  })

  async function factsOf(address: string) {
    const opened = bitcoinQuotingChain.open({
      client: connect(),
      network: 'regtest',
      multicall3: undefined,
      currentHead: () => undefined,
      budgetMs: 10_000,
      neededWithinMs: 10_000,
      now: Date.now,
      onFailure: () => undefined,
    })
    return opened.userFacts({ user: address, currency: native, spender: undefined })
  }

  test('leave out rewards that are not ripe, what waits, and what is spent by what waits', async () => {
    const owner = keyOf('owner')
    await node.mine(1, owner.witness.address)
    expect((await factsOf(owner.witness.address)).spendable ?? []).toEqual([])
    const funding = await fund(owner.witness.script, 70_000n, 90_000n)
    expect((await factsOf(owner.witness.address)).balance).toBe(160_000n)
    const spend = elsewhere(
      [{ from: funding, vout: 1, key: owner, kind: 'witness' }],
      [{ script: owner.witness.script, value: 80_000n }],
    )
    await node.call('sendrawtransaction', spend.toHex())
    expect((await factsOf(owner.witness.address)).spendable).toMatchObject([{ vout: 0, value: 70_000n }])
    await mine()
  })

  test.each(['witness', 'legacy', 'nested'] as const)(
    'have a step for an address of kind %s that the node takes, at the fee that was told, and settlement finds',
    async (kind) => {
      const owner: TestKey = keyOf(`payer ${kind}`)
      const id = idOf(900 + numbers)
      await fund(owner[kind].script, 70_000n, 80_000n)
      const { spendable } = await factsOf(owner[kind].address)
      const fees = new BitcoinFees({ satPerKvb: 5_000n })
      const route: OriginRoute = {
        user: owner[kind].address,
        recipient: '0x',
        by: 'deposit',
        swap: undefined,
        currencyIn: coin,
        currencyOut: coin,
        amountIn: 100_000n,
        amountInMax: 100_000n,
        amountOut: 1n,
        amountOutMin: 1n,
        deposited: { currency: coin, amount: 100_000n },
        userPublicKey: Buffer.from(owner.publicKey).toString('hex'),
      }
      const [planned] = quoting.plan(route, { allowance: undefined, spendable, fees })
      if (planned === undefined) throw new Error('nothing is planned')
      const identity = { requestId: id, orderId: id, deadlineSeconds: 0, depositAddress: undefined }
      const psbt = Psbt.fromHex(String(quoting.encode(planned, route, { identity, fees }).data['psbt']))
      const signed = psbt.signAllInputs(owner.signer).finalizeAllInputs().extractTransaction()
      const [judged] = Object(await node.call('testmempoolaccept', [signed.toHex()]))
      expect(judged).toMatchObject({ allowed: true })
      expect(BigInt(Math.round(judged.fees.base * 1e8))).toBe(planned.networkFee)
      // At least what was bid for, whatever the signature's length.
      expect(judged.fees.base * 1e8 * 1_000).toBeGreaterThanOrEqual(judged.vsize * 5_000)

      const from = BigInt(Object(await node.call('getblockchaininfo')).blocks)
      await node.call('sendrawtransaction', signed.toHex())
      await mine(2)
      const settling = bitcoinSettlingChain({
        chain: { id: 'bitcoin', depository, network: 'regtest', finality: { mode: 'depth', blocks: 3 } },
        client: connect(),
        quoted: { config: { blockTimeMs: 600_000 }, currencies: [] },
      })
      const range = { known: from, from: from + 1n, to: from + 2n }
      const pass = await settling.depositPass(range, aSignal().signal)
      expect(pass.transactions).toEqual([signed.getId()])
      expect(await settling.deposits(signed.getId(), aSignal().signal)).toMatchObject({
        deposits: [{ depositId: id, depositor: owner[kind].address, amount: 100_000n }],
      })
    },
  )
  const coin = { address: native, isNative: true, resetsAllowance: false }
})

describe('a line of payments', () => {
  let first: { readonly txid: string; readonly vout: number }
  beforeEach(async () => {
    const { address } = openAt({ txid: 'ab'.repeat(32), vout: 0 })
    const script = scriptOf(address)
    first = { txid: (await fund(script, 10_000_000n)).getId(), vout: 0 }
    await mine(3)
  })

  function openAt(firstOutput: typeof first): LinePayingChain {
    const opened = linePayingFamily({ vmType: 'bitcoin-vm' })?.open({
      chain: chain(),
      key: new Secret(walletKey),
      firstOutput,
      nowMs: () => Date.now(),
    })
    if (opened === undefined) throw new Error('the family pays')
    onTestFinished(() => opened.close())
    return opened
  }
  const open = () => openAt(first)

  async function minedOf(paying: LinePayingChain, signed: readonly { readonly hash: string }[]) {
    const { mined } = await paying.look(signed.map(({ hash }) => hash))
    return signed.map(({ hash }) => mined.get(hash))
  }

  test('is mined, remembered by whoever forgot it, and attested', async () => {
    const paying = open()
    const id = idOf(2_000 + numbers)
    const { raw, hash } = await signAt(paying, paymentOf(id))
    await paying.broadcast(raw)
    await paying.broadcast(raw)
    expect((await paying.look([hash])).mined.has(hash)).toBe(false)
    await mine()
    expect((await paying.look([hash])).mined.get(hash)).toEqual({ isFinal: false })
    await mine(2)
    expect((await paying.readFinal(id)).state).toBe('paid')
    await expect(signAt(open(), paymentOf(id))).rejects.toThrow('it is paid')
    const question = {
      transactionId: hash,
      orderId: id,
      extraData: '0x' as const,
      payments: [{ recipient: user.witness.address, currency: native }],
    }
    const { reader } = openChain({ api: 'node', urls: [node.url] })
    expect(await reader.readPayment(question, aSignal())).toMatchObject({
      referencesOrder: true,
      transfers: [{ amount: 10_000n }],
    })
  })

  test('takes a place once: a higher offer replaces, a lower one is refused, and one of them is mined', async () => {
    const paying = open()
    const id = idOf(3_000 + numbers)
    const low = await signAt(paying, paymentOf(id), { fee: 1_000n })
    const high = await signAt(paying, paymentOf(id), { fee: 4_000n })
    await paying.broadcast(low.raw)
    await paying.broadcast(high.raw)
    await expect(paying.broadcast(low.raw)).rejects.toThrow('insufficient fee')
    const cancelled = await signAt(paying, { payments: [] }, { parent: low.parent, fee: 9_000n })
    await paying.broadcast(cancelled.raw)
    await mine(3)
    expect(await minedOf(paying, [low, high, cancelled])).toEqual([undefined, undefined, { isFinal: true }])
    for (const { raw } of [low, high]) await expect(paying.broadcast(raw)).rejects.toThrow('missingorspent')
    expect((await paying.readFinal(id)).state).toBe('open')
    const closing = await signAt(paying, closingOf(id))
    await paying.broadcast(closing.raw)
    await mine(3)
    await expect(signAt(open(), paymentOf(id))).rejects.toThrow('it is closed')
  })

  test('has twenty payments one behind the other in one block', async () => {
    const paying = open()
    let parent = (await paying.look([])).tip
    for (let index = 0; index < 20; index += 1) {
      const { raw, place } = await signAt(paying, paymentOf(idOf(4_000 + index)), { parent })
      await paying.broadcast(raw)
      paying.learn([raw])
      parent = place
    }
    await mine()
    expect((await open().look([])).tip).toEqual(parent)
  })

  test('goes back with a block that is dropped, and is not signed again behind what remains', async () => {
    const paying = open()
    const id = idOf(5_000 + numbers)
    const { raw, hash, parent } = await signAt(paying, paymentOf(id))
    await paying.broadcast(raw)
    await mine()
    await node.call('invalidateblock', await node.call('getbestblockhash'))
    // A block of nothing: what was dropped waits again.
    await node.call('generateblock', nobody.legacy.address, [])
    expect(await paying.look([hash])).toMatchObject({ tip: parent })
    const again = await signAt(paying, paymentOf(id), { fee: 5_000n })
    await paying.broadcast(again.raw)
    await mine(3)
    expect(await minedOf(paying, [{ hash }, again])).toEqual([undefined, { isFinal: true }])
  })

  test('gathers coins that somebody else sent the wallet', async () => {
    const paying = open()
    const stray = await fund(scriptOf(paying.address), 50_000n)
    await mine(3)
    const beside = (await paying.readOutputsBesideLine()).filter(({ txid }) => txid === stray.getId())
    expect(beside).toMatchObject([{ value: 50_000n }])
    const { tip } = await paying.look([])
    const { raw, left } = await paying.sign({ payments: [] }, { parent: tip, gathered: beside }, 2_000n)
    await paying.broadcast(raw)
    await mine()
    expect((await paying.look([])).tip.value).toBe(left)
    expect(left).toBe(tip.value + 48_000n)
  })
})
