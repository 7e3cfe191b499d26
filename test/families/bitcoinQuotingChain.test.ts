// Goal: what a user can spend on Bitcoin is what enough nodes have, whoever names it; fees and heads are nobody's alone;
// settlement finds every deposit of a block. Who gains by breaking it: an endpoint that has users sign for outputs that
// are not there, hides what they have, raises a fee, or shows a deposit that no other has. Method: constructed chains
// behind the APIs of nodes and of Esplora, one of which lies.

import type { FeerateModel } from '@causeway/core/config'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { BitcoinFees } from '@causeway/families/rules'
import {
  type BitcoinNode,
  bitcoinBodies,
  blockBytes,
  ConstructedChain,
  startBitcoinNode,
  timeAt,
} from '@causeway/localnet/standIns/bitcoin'
import type { ChainClient } from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { bitcoinQuotingChain } from '../../packages/families/src/bitcoin/quoting/bitcoinQuotingChain.ts'
import { readOwnOutputs } from '../../packages/families/src/bitcoin/quoting/ownOutputs.ts'
import { bitcoinSettlingChain } from '../../packages/families/src/bitcoin/settling/bitcoinSettlingChain.ts'
import type { NetworkReader, NetworkReading } from '../../packages/families/src/shared/networkReader.ts'
import {
  chainOf,
  depository,
  depositoryKey,
  funding,
  native,
  orderId,
  paying,
  saying,
  user,
} from './bitcoinSupport/bitcoinBed.ts'

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

/** Three nodes, and as many of them as Esplora services beside. */
function connect(apis = 3, asked = nodes): ChainClient {
  const client = bitcoinQuotingChain.connect({
    ...chainOf({
      api: 'node',
      urls: asked.map((node) => node.url('node')),
      lookup: nodes.slice(0, apis).map((node) => node.url('esplora')),
    }),
  })
  onTestFinished(() => client.close())
  return client
}
const network = bitcoinNetworkOf('regtest')
const outputsOf = (address: string, client = connect()) =>
  readOwnOutputs(client, { address, network }, { timeoutMs: 10_000 })
/** Replacement for the result of one method; `undefined`: the stand-in's own answer. */
type Fault = Exclude<Parameters<BitcoinNode['fault']>[0], undefined>
const lying =
  (what: string, lie: (text: string) => string | undefined): Fault =>
  (asked, answer) => ({ ...answer, text: (asked === what ? lie(answer.text) : undefined) ?? answer.text })
const resultOf = (result: unknown) => (text: string) =>
  JSON.stringify({ ...Object(JSON.parse(text)), result, error: null })

describe('what a user can spend', () => {
  test('F-137: is confirmed and unspent, with values from the bytes that made it', async () => {
    const made = funding(
      { script: user.witness.script, value: 70_000n },
      { script: user.witness.script, value: 90_000n },
      { script: user.legacy.script, value: 5_000n },
      { script: user.witness.script, value: 20_000n },
      { script: user.witness.script, value: 30_000n },
    )
    chain.mine(made)
    chain.mine(paying([{ txid: made.getId(), vout: 3 }], [saying('spent in a block')]))
    chain.announce(paying([{ txid: made.getId(), vout: 4 }], [saying('spent by what waits')]))
    chain.announce(funding({ script: user.witness.script, value: 99_000n }))
    const script = `0x${Buffer.from(user.witness.script).toString('hex')}`
    const transaction = `0x${Buffer.from(made.toBuffer()).toString('hex')}`
    const at = (vout: number, value: bigint) => ({ txid: made.getId(), vout, value, script, transaction })
    for (const apis of [3, 0]) {
      const found = await outputsOf(user.witness.address, connect(apis))
      expect(found.toSorted((a, b) => a.vout - b.vout)).toEqual([at(0, 70_000n), at(1, 90_000n)])
    }
    expect(await outputsOf(user.legacy.address)).toEqual([expect.objectContaining({ vout: 2, transaction })])
    expect(await outputsOf(user.nested.address)).toEqual([])
  })

  test('Q-81: an address that no list names is refused for who named it alone, and our own is paged', async () => {
    const made = funding({ script: user.witness.script, value: 70_000n })
    chain.mine(made)
    const of = (address: string) => `/address/${address}`
    const page = bitcoinBodies.addressTransactions.body(user.witness.address, [
      { txid: 'ab'.repeat(32), spends: { txid: 'cd'.repeat(32), vout: 0 } },
      { txid: made.getId(), value: 70_000 },
      { txid: 'cd'.repeat(32), value: 9 },
    ])
    const refusing: Fault = (asked, answer) => {
      if (asked === `${of(user.witness.address)}/utxo`)
        return { status: 400, text: 'Too many unspent transaction outputs (>500)' }
      if (asked === `${of(user.witness.address)}/txs/chain`)
        return { status: 200, text: JSON.stringify(page) }
      return asked.includes('/txs/chain/') ? { status: 200, text: '[]' } : answer
    }
    for (const node of nodes) node.fault(refusing)
    const client = connect()
    for (let round = 0; round < 20; round += 1)
      await expect(outputsOf(user.witness.address, client)).rejects.toMatchObject({ kind: 'invalid_request' })
    // Nobody else's quotes wait for that.
    expect(await outputsOf(user.legacy.address, client)).toEqual([])
    const own = { timeoutMs: 10_000, whose: 'own' } as const
    const asked = { address: user.witness.address, network }
    expect(await readOwnOutputs(client, asked, own)).toMatchObject([{ txid: made.getId(), value: 70_000n }])
    // One that refuses everything is unhealthy all the same.
    for (const node of nodes) node.fault((_asked, _answer) => ({ status: 400, text: 'no' }))
    for (let round = 0; round < 6; round += 1) await outputsOf(user.witness.address, client).catch(() => {})
    for (const node of nodes) node.reset()
    await expect(outputsOf(user.witness.address, client)).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
    expect(nodes.flatMap((node) => node.asked()).filter((asked) => asked.includes('/utxo'))).toEqual([])
  })

  test('F-96: is shown by the bytes that its id covers, and no witness of megabytes beside them', async () => {
    const made = funding({ script: user.witness.script, value: 70_000n })
    const bare = Buffer.from(made.toBuffer()).toString('hex')
    made.setWitness(0, [new Uint8Array(300_000)])
    chain.mine(made)
    expect(await outputsOf(user.witness.address)).toMatchObject([{ transaction: `0x${bare}` }])
  })

  test('leaves out a reward that is not ripe', async () => {
    const made = funding({ script: user.witness.script, value: 70_000n })
    chain.mine(made)
    const young = lying('gettxout', (text) =>
      text
        .replace('"coinbase":false', '"coinbase":true')
        .replace(/"confirmations":1\b/, '"confirmations":99'),
    )
    for (const node of nodes) node.fault(young)
    expect(await outputsOf(user.witness.address)).toEqual([])
    const ripe = lying('gettxout', (text) => text.replace('"confirmations":1,', '"confirmations":100,'))
    for (const node of nodes) node.fault(ripe)
    expect(await outputsOf(user.witness.address)).toHaveLength(1)
  })

  test('is not changed by a list that names more, or less, or what belongs to somebody else', async () => {
    const made = funding(
      { script: user.witness.script, value: 70_000n },
      { script: depositoryKey.legacy.script, value: 90_000n },
    )
    chain.mine(made)
    const strange = ['ab'.repeat(32), made.getId()].map((txid) => ({
      txid,
      vout: 1,
      value: 21e14,
      status: { confirmed: true },
    }))
    const path = `/address/${user.witness.address}/utxo`
    for (const lie of ['[]', JSON.stringify(strange), 'nothing']) {
      nodes[0]?.fault(lying(path, () => lie))
      expect(await outputsOf(user.witness.address)).toMatchObject([{ vout: 0, value: 70_000n }])
    }
    for (const node of nodes) node.fault(lying(path, () => 'nothing'))
    await expect(outputsOf(user.witness.address)).rejects.toThrow(/names the outputs/)
  })

  test('is not changed by one node of three that has an output of its own, none, or other bytes', async () => {
    const made = funding({ script: user.witness.script, value: 70_000n })
    const other = funding({ script: user.witness.script, value: 90_000n })
    chain.mine(made)
    const own = new ConstructedChain()
    own.mine(made, other)
    nodes[0]?.show(own)
    expect(await outputsOf(user.witness.address)).toMatchObject([{ txid: made.getId(), value: 70_000n }])
    nodes[0]?.show(chain)
    const bytes = Buffer.from(other.toBuffer()).toString('hex')
    for (const fault of [
      lying('gettxout', resultOf(null)),
      lying('getrawtransaction', resultOf({ hex: bytes })),
      lying('gettxout', resultOf({ confirmations: '1', coinbase: false })),
      lying('gettxout', () => 'nothing'),
    ]) {
      nodes[0]?.fault(fault)
      expect(await outputsOf(user.witness.address)).toMatchObject([{ txid: made.getId(), value: 70_000n }])
    }
  })

  test('is asked for its bytes once, and each time whether it is spent', async () => {
    const [one, two] = [
      funding({ script: user.witness.script, value: 70_000n }),
      funding({ script: user.witness.script, value: 80_000n }),
    ]
    chain.mine(one)
    let nowMs = Date.now()
    const opened = bitcoinQuotingChain.open({
      client: connect(),
      network: 'regtest',
      multicall3: undefined,
      currentHead: () => undefined,
      budgetMs: 1,
      neededWithinMs: 10_000,
      now: () => nowMs,
      onFailure: (error) => expect(error).toBe(1),
    })
    const spendable = async (who = user.witness.address, laterMs = 2_000) => {
      nowMs += laterMs
      for (const node of nodes) node.reset()
      const facts = await opened.userFacts({ user: who, currency: native, spender: undefined })
      const bytesAsked = nodes[0]?.asked().filter((method) => method === 'getrawtransaction').length
      return { values: facts.spendable?.map(({ value }) => value).sort(), bytesAsked }
    }
    expect(await spendable()).toEqual({ values: [70_000n], bytesAsked: 1 })
    chain.mine(two)
    // Which outputs there are is asked for again after ten seconds.
    expect(await spendable()).toEqual({ values: [70_000n], bytesAsked: 0 })
    expect(await spendable(undefined, 8_000)).toEqual({ values: [70_000n, 80_000n], bytesAsked: 1 })
    expect(await spendable()).toEqual({ values: [70_000n, 80_000n], bytesAsked: 0 })
    chain.announce(paying([{ txid: two.getId(), vout: 0 }], [{ script: user.legacy.script, value: 1n }]))
    expect(await spendable()).toEqual({ values: [70_000n], bytesAsked: 0 })
    // A list that names them for somebody else makes them nobody's.
    const body = JSON.stringify([{ txid: one.getId(), vout: 0, value: 70_000, status: { confirmed: true } }])
    for (const node of nodes)
      node.fault((what, truth) => (what.endsWith('/utxo') ? { status: 200, text: body } : truth))
    expect((await spendable(depositoryKey.witness.address)).values).toEqual([])
  })

  test('is asked for many users at once, of whom none gets or spoils what is of another', async () => {
    const addresses = [user.witness, user.legacy, depositoryKey.witness]
    // Addresses of three forms, forty outputs each: more than one request holds.
    const made = addresses.map(({ script }) =>
      funding(...Array.from({ length: 40 }, (_, index) => ({ script, value: 10_000n + BigInt(index) }))),
    )
    chain.mine(...made)
    let nowMs = Date.now()
    const opened = bitcoinQuotingChain.open({
      client: connect(),
      network: 'regtest',
      multicall3: undefined,
      currentHead: () => undefined,
      budgetMs: 1,
      neededWithinMs: 3_000,
      now: () => nowMs,
      onFailure: () => {},
    })
    const all = () =>
      Promise.all(
        addresses.map(({ address }) =>
          opened.userFacts({ user: address, currency: native, spender: undefined }),
        ),
      )
    const transactionsOf = (facts: Awaited<ReturnType<typeof all>>) =>
      facts.map(({ spendable = [] }) => [...new Set(spendable.map(({ txid }) => txid))])
    const own = made.map((transaction) => [transaction.getId()])
    expect(transactionsOf(await all())).toEqual(own)
    // One of them is spent, and one node hides all that the second has: the others decide.
    chain.announce(
      paying([{ txid: own[0]?.[0] ?? '', vout: 3 }], [{ script: user.legacy.script, value: 1n }]),
    )
    nodes[0]?.fault((what, truth) =>
      what === 'gettxout' ? { ...truth, text: resultOf(null)(truth.text) } : truth,
    )
    nowMs += 2_000
    const facts = await all()
    expect(transactionsOf(facts)).toEqual(own)
    expect(facts.map(({ spendable }) => spendable?.length)).toEqual([39, 40, 40])
    expect(facts[0]?.spendable?.map(({ vout }) => vout)).not.toContain(3)
    // All of them silent: everybody is told so.
    for (const node of nodes) node.fault((what, truth) => (what === 'gettxout' ? 'hang' : truth))
    nowMs += 2_000
    expect((await all()).map(({ spendable }) => spendable)).toEqual([undefined, undefined, undefined])
  })

  test('is told as facts of a user, and of nobody nothing', async () => {
    chain.mine(funding({ script: user.witness.script, value: 70_000n }))
    const failures: unknown[] = []
    const opened = bitcoinQuotingChain.open({
      client: connect(),
      network: 'regtest',
      multicall3: undefined,
      currentHead: () => undefined,
      budgetMs: 1,
      neededWithinMs: 10_000,
      now: Date.now,
      onFailure: (error) => failures.push(error),
    })
    const factsOf = (who: string) => opened.userFacts({ user: who, currency: native, spender: undefined })
    expect(await factsOf(user.witness.address)).toMatchObject({ balance: 70_000n, spendable: [{ vout: 0 }] })
    expect(await factsOf(native)).toEqual({})
    expect(await factsOf('34xp4vRoCGJym3xR7yCVPFHoCNxv4Twseo')).toEqual({})
    for (const node of nodes) node.fault(() => 'hang')
    const impatient = bitcoinQuotingChain.open({
      client: connect(),
      network: 'regtest',
      multicall3: undefined,
      currentHead: () => undefined,
      budgetMs: 1,
      neededWithinMs: 200,
      now: Date.now,
      onFailure: (error) => failures.push(error),
    })
    expect(
      await impatient.userFacts({ user: user.witness.address, currency: native, spender: undefined }),
    ).toEqual({})
    expect(failures).toHaveLength(1)
  })
})

const feeModel: FeerateModel = {
  kind: 'feerate',
  targetBlocks: 2,
  minSatPerKvb: 2_000n,
  maxSatPerKvb: 100_000n,
  markupBps: 1_000,
  leastOutputSat: 0n,
}
function reader(change: Partial<FeerateModel> = {}, fillWallet?: string): NetworkReader {
  const { network: family } = bitcoinQuotingChain
  if (family === undefined) throw new Error('it has a reader')
  const currencies = [{ address: native, decimals: 8 }]
  const options = {
    client: connect(),
    depository,
    network: 'regtest',
    fillWallet,
    currencies,
    hubChainId: '1',
    fillContract: undefined,
  }
  return family.reader({ ...options, feeModel: { ...feeModel, ...change } })
}

const read = (change?: Partial<FeerateModel>, fillWallet?: string): Promise<NetworkReading> =>
  reader(change, fillWallet).read({ signal: AbortSignal.timeout(10_000), timeoutMs: 10_000 })

describe('the network', () => {
  test('F-137: is read at the head that enough nodes have, at the median of what they estimate', async () => {
    chain.mineEmpty(3)
    chain.satPerKvb = 7_500
    nodes[0]?.fault(lying('estimatesmartfee', resultOf({ feerate: 0.09, blocks: 2 })))
    const { head, fees, shown, voices } = await read()
    expect(head).toEqual({ number: 3n, timestampSeconds: timeAt(3) })
    expect(fees).toEqual(new BitcoinFees({ satPerKvb: 7_500n }))
    expect(shown).toEqual({ satPerKvb: '7500', ceilingSatPerKvb: '100000', priceFrom: 'median' })
    expect(voices).toEqual({ agreed: 3, required: 2, configured: 3 })
  })

  test('costs the floor while nodes have no estimate, and no less than they relay for', async () => {
    expect((await read()).shown).toMatchObject({ satPerKvb: '2000', priceFrom: 'configured' })
    chain.satPerKvb = 100
    expect((await read({ minSatPerKvb: 0n })).shown).toMatchObject({ satPerKvb: '1000', priceFrom: 'median' })
  })

  test('above the ceiling is a refusal', async () => {
    chain.satPerKvb = 100_001
    expect((await read()).fees).toEqual({
      reason: 'feerate_above_ceiling',
      charge: 'A thousand virtual bytes',
      cost: 'cost 100001 satoshi',
      ceiling: '100000',
    })
  })

  test('is not moved by one node of three that is ahead, behind or confused', async () => {
    chain.mineEmpty(3)
    const ahead = new ConstructedChain()
    ahead.mineEmpty(50)
    nodes[0]?.show(ahead)
    expect((await read()).head.number).toBe(3n)
    nodes[0]?.show(new ConstructedChain())
    expect((await read()).head.number).toBe(3n)
    nodes[0]?.show(chain)
    nodes[0]?.fault(lying('getblockchaininfo', resultOf({ blocks: -1, time: 'now' })))
    expect((await read()).head.number).toBe(3n)
    for (const node of nodes) node.fault(lying('getblockchaininfo', () => 'nothing'))
    await expect(read()).rejects.toThrow()
  })

  test('Q-81: of a fill wallet with 501 outputs, which no list names, has an inventory that quotes go on with', async () => {
    const made = Array.from({ length: 501 }, (_, index) =>
      funding({ script: user.witness.script, value: 10_000n + BigInt(index) }),
    )
    chain.mine(...made)
    const newest = made.toReversed().map((transaction) => transaction.getId())
    const [of, page] = [`/address/${user.witness.address}`, 25]
    for (const node of nodes)
      node.fault((asked, answer) => {
        if (asked === `${of}/utxo`)
          return { status: 400, text: 'Too many unspent transaction outputs (>500)' }
        if (!asked.startsWith(`${of}/txs/chain`)) return answer
        const begin = newest.indexOf(asked.slice(`${of}/txs/chain/`.length)) + 1
        const listed = newest.slice(begin, begin + page)
        const paid = listed.map((txid, at) => ({ txid, value: 10_000 + 500 - begin - at }))
        const { body } = bitcoinBodies.addressTransactions
        return { status: 200, text: JSON.stringify(body(user.witness.address, paid)) }
      })
    const { inventory, head } = await read({}, user.witness.address)
    expect(head.number).toBe(1n)
    // Enough of them for two payments, each of as many inputs as one may have.
    expect(inventory.get(native)).toBeGreaterThan(10_000n * 100n)
  })

  test.each<readonly [string, Fault]>([
    ['answers', (what, own) => (what.startsWith('/address') ? 'hang' : own)],
    ['takes it', (what, own) => (what.startsWith('/address') ? { status: 400, text: 'too many' } : own)],
  ])('Q-83: has the last inventory for a minute while nobody %s, and then none', async (_what, fault) => {
    chain.mine(funding({ script: user.witness.script, value: 70_000n }))
    const network = reader({}, user.witness.address)
    const inventory = async () =>
      (await network.read({ signal: AbortSignal.timeout(10_000), timeoutMs: 1_000 })).inventory
    const held = new Map([[native, 70_000n]])
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await inventory()).toEqual(held)
    for (const node of nodes) node.fault(fault)
    vi.advanceTimersByTime(59_000)
    expect(await inventory()).toEqual(held)
    vi.advanceTimersByTime(1_000)
    expect(await inventory()).toEqual(new Map())
  })
})

describe('settlement', () => {
  const signal = () => AbortSignal.timeout(20_000)
  const settling = (asked = nodes) =>
    bitcoinSettlingChain({
      chain: { id: 'bitcoin', depository, network: 'regtest', finality: { mode: 'depth', blocks: 3 } },
      client: connect(3, asked),
      quoted: { config: { blockTimeMs: 600_000 }, currencies: [] },
    })
  const deposit = (value: bigint, more: Parameters<typeof paying>[1] = [saying(orderId)]) => {
    const made = funding({ script: user.witness.script, value: value + 1_000n })
    const paid = paying(
      [{ txid: made.getId(), vout: 0 }],
      [{ script: depositoryKey.legacy.script, value }, ...more],
    )
    return { made, paid, id: paid.getId() }
  }

  test('finds the deposits of a range in their order, and reads each', async () => {
    const [one, two] = [deposit(50_000n), deposit(60_000n)]
    chain.mine(one.made, one.paid)
    chain.mine(two.made, funding({ script: user.witness.script, value: 1n }), two.paid)
    const settled = settling()
    expect([await settled.head(signal()), await settled.finalHeight(signal())]).toEqual([2n, 0n])
    const pass = await settled.depositPass({ known: 0n, from: 1n, to: 2n }, signal())
    expect(pass.transactions).toEqual([one.id, two.id])
    expect(pass.known).toEqual({ number: 0n, hash: chain.blockAt(0)?.hash })
    expect(pass.last).toEqual({ number: 2n, hash: chain.blockAt(2)?.hash })
    expect(await settled.deposits(one.id, signal())).toMatchObject({
      deposits: [{ depositId: orderId, depositor: user.witness.address, amount: 50_000n, currency: native }],
      evidence: { blockNumber: 1n },
    })
    const hashes = await settled.blockHashes([1n, 9n], signal())
    expect([...hashes]).toEqual([[1n, chain.blockAt(1)?.hash]])
    chain.mineEmpty(2)
    expect(await settled.finalSeconds(signal())).toBe(timeAt(2))
    expect(await settled.feePaid?.(one.id, signal())).toBe(1_000n)
  })

  test('reads no block again that it has read: a new one may take an hour, and has megabytes', async () => {
    const one = deposit(50_000n)
    chain.mine(one.made, one.paid)
    const settled = settling()
    for (const node of nodes) node.reset()
    const mark = { number: 1n, hash: chain.blockAt(1)?.hash }
    const pass = await settled.depositPass({ known: 1n, from: 1n, to: 1n }, signal())
    expect(pass).toEqual({ known: mark, last: mark, transactions: [] })
    expect(nodes.flatMap((node) => node.asked()).filter((method) => method === 'getblock')).toEqual([])
  })

  test('F-133: has no deposit of what waits for a block, or has left its own', async () => {
    const one = deposit(50_000n)
    chain.announce(one.made)
    chain.announce(one.paid)
    const settled = settling()
    expect(await settled.deposits(one.id, signal())).toBeUndefined()
    chain.mine(one.made, one.paid)
    expect((await settled.deposits(one.id, signal()))?.deposits).toHaveLength(1)
    chain.drop(1)
    expect(await settled.deposits(one.id, signal())).toBeUndefined()
  })

  test('reads a payment as missing, included and final', async () => {
    const made = funding(
      { script: depositoryKey.legacy.script, value: 1n },
      { script: user.legacy.script, value: 9_000n },
    )
    const paid = paying(
      [{ txid: made.getId(), vout: 1 }],
      [{ script: user.witness.script, value: 8_000n }, saying(orderId)],
    )
    const payments = [{ recipient: user.witness.address, currency: native, minimumAmount: 8_000n }]
    const question = { transactionId: paid.getId(), orderId, extraData: '0x', payments } as const
    const settled = settling()
    expect(await settled.payment(question, signal())).toEqual({ state: 'missing' })
    chain.mine(made, paid)
    expect(await settled.payment(question, signal())).toMatchObject({ state: 'included', confirmations: 1 })
    await expect(settled.finalPayment(question, signal())).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
    })
    chain.mineEmpty(2)
    expect((await settled.finalPayment(question, signal()))?.transfers).toMatchObject([{ amount: 8_000n }])
  })

  test('F-79: reads no block from a node alone that is another one, holds others, or follows another', async () => {
    const one = deposit(50_000n)
    chain.mine(one.made, one.paid)
    chain.mineEmpty(1)
    const other = new ConstructedChain()
    other.mine(funding({ script: user.witness.script, value: 1n }))
    other.mineEmpty(1)
    const bytesAt = (shown: ConstructedChain, height: number) => {
      const block = shown.blockAt(height)
      if (block === undefined) throw new Error('there is a block')
      return blockBytes(block).toString('hex')
    }
    const range = { known: 0n, from: 1n, to: 2n }
    const alone = nodes.slice(0, 1)
    expect((await settling(alone).depositPass(range, signal())).transactions).toEqual([one.id])
    const [honest, foreign] = [bytesAt(chain, 1), bytesAt(other, 1)]
    const headerDigits = 160
    for (const lie of [
      // Whole, and another one.
      lying('getblock', (said) => said.replace(honest, foreign)),
      // The header that was asked for, before what it does not commit to.
      lying('getblock', (said) =>
        said.replace(honest, honest.slice(0, headerDigits) + foreign.slice(headerDigits)),
      ),
      lying('getblock', resultOf(null)),
    ]) {
      nodes[0]?.fault(lie)
      await expect(settling(alone).depositPass(range, signal())).rejects.toMatchObject({
        code: 'RPC_HTTP_ERROR',
      })
    }
    // Each block is real, and the second does not follow the first: heights of two chains, told in one breath.
    const [first, second] = [chain.blockAt(1), other.blockAt(2)]
    if (first === undefined || second === undefined) throw new Error('there are blocks')
    nodes[0]?.fault((what, answer) => {
      const text = answer.text.replace(String(chain.blockAt(2)?.hash), second.hash)
      if (what === 'getblock' && answer.text.includes('"code"'))
        return { ...answer, status: 200, text: resultOf(bytesAt(other, 2))(answer.text) }
      return { ...answer, text }
    })
    // The first one is new, or known: in the range, or before it.
    for (const first of [range, { ...range, known: 1n }, { ...range, known: 1n, from: 2n }])
      await expect(settling(alone).depositPass(first, signal())).rejects.toMatchObject({
        code: 'RPC_HTTP_ERROR',
      })
  })

  test('takes no deposit from one node of three that shows another block, or hides one', async () => {
    const one = deposit(50_000n)
    chain.mine(one.made, one.paid)
    const lie = new ConstructedChain()
    const invented = deposit(10n ** 12n)
    lie.mine(invented.made, invented.paid)
    nodes[0]?.show(lie)
    expect((await settling().depositPass({ known: 0n, from: 1n, to: 1n }, signal())).transactions).toEqual([
      one.id,
    ])
    nodes[0]?.show(chain)
    // The bytes of an honest header, with other transactions behind it.
    nodes[0]?.fault(
      lying('getblock', (text) => text.replace(/"result":"([0-9a-f]{160})[0-9a-f]*"/, '"result":"$100"')),
    )
    expect((await settling().depositPass({ known: 0n, from: 1n, to: 1n }, signal())).transactions).toEqual([
      one.id,
    ])
  })
})
