// Goal: whatever endpoints leave out or do not answer for, a watcher lists and reads all else, in every family. Method: one
// contract over a fixture per family, each a chain with honest deposits and one that its endpoint makes strange.
import { connectQuotingChain, openSettlingChain } from '@causeway/chains'
import { Secret } from '@causeway/core'
import type { RegisteredChain } from '@causeway/families'
import { encodeDepositNative } from '@causeway/families/rules'
import { startFaultProxy } from '@causeway/localnet'
import { ConstructedChain, startBitcoinNode } from '@causeway/localnet/standIns/bitcoin'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { lighterBodies } from '@causeway/localnet/standIns/lighter'
import { depositNative } from '@causeway/localnet/standIns/solana'
import { createJsonRpcClient } from '@causeway/rpc'
import { afterAll, onTestFinished } from 'vitest'
import { createSettlementChain } from '../apps/quote-api/src/requests/settlement/chain/settlementChain.ts'
import {
  chainOf,
  depositoryKey,
  funding,
  paying,
  saying,
  user,
  depository as vault,
} from './families/bitcoinSupport/bitcoinBed.ts'
import { type ChainBed, startChainBed } from './families/ethereumSupport/startChainBed.ts'
import {
  depository as dex,
  startHyperliquidBed,
  usdSend,
} from './families/hyperliquidSupport/startHyperliquidBed.ts'
import {
  depository as account,
  put,
  queuedAtMs,
  startNodes,
  transfer,
} from './families/lighterSupport/lighterBed.ts'
import { proxiesOf, startSolanaBed } from './families/solanaSupport/solanaBed.ts'
import { tronBedOn } from './families/tronSupport/startTronBed.ts'
import { describeReader, type ReaderFixture, type WithoutForm } from './readerSupport/describeReader.ts'
import { startWire } from './readerSupport/wire.ts'

const bitcoinNone = {
  result: null,
  error: { code: -5, message: 'No such mempool or blockchain transaction' },
}
const id = `0x${'ab'.repeat(32)}` as const
const signal = () => AbortSignal.timeout(30_000)

/** Contracts on nodes, which EVM chains and Tron share; each test looks at blocks since it began. */
let started: Promise<ChainBed> | undefined
const startContracts = () => {
  started ??= startChainBed()
  return started
}
afterAll(async () => (await started)?.stop())

/** An answer without the entries that name a transaction. */
function without(answer: unknown, transactionId: string): unknown {
  if (Array.isArray(answer))
    return answer
      .filter((entry) => !JSON.stringify(entry).includes(transactionId))
      .map((entry) => without(entry, transactionId))
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(
    Object.entries(answer).map(([name, member]) => [name, without(member, transactionId)]),
  )
}

function settle(
  parts: Pick<RegisteredChain, 'vmType'> & Partial<RegisteredChain> & { readonly id: string },
  url: string,
  options: Omit<Parameters<typeof openSettlingChain>[2], 'quoted'> = {},
): Pick<ReaderFixture, 'settling' | 'client'> {
  // CAST: a chain as its file describes it, with the members that settling looks at.
  const chain = {
    endpoints: [new Secret(url)],
    ready: true,
    unsetVariables: [],
    rpcThreshold: 1,
    additionalData: {},
    hubChainId: '7',
    network: undefined,
    ...parts,
  } as unknown as RegisteredChain
  const client = connectQuotingChain(chain)
  const quoted = { config: { blockTimeMs: 1_000 }, currencies: [] }
  const settling = client && openSettlingChain(chain, client, { ...options, quoted })
  if (client === undefined || settling === undefined) throw new Error(`${parts.vmType} is not settled`)
  onTestFinished(() => client.close())
  return { settling, client }
}

const families: readonly (readonly [string, () => Promise<ReaderFixture>])[] = [
  [
    'ethereum-vm',
    async () => {
      const bed = await startContracts()
      const proxy = await startFaultProxy({ targetUrl: bed.url })
      const wire = await startWire(proxy.url)
      const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: wire.url }] })
      onTestFinished(async () => {
        await client.close()
        await proxy.stop()
      })
      const { depository } = bed.deployment
      const config = { blockTimeMs: 2_000, multicall3: bed.deployment.multicall3 }
      const protocol = { vmType: 'ethereum-vm', hubChainId: '8453' }
      const registered = { id: 'base', depository, rpcThreshold: 1, additionalData: {}, ...protocol }
      const settling = createSettlementChain({
        // CAST: both have the members that settling looks at.
        quotable: { chainId: 8_453, key: 'base', depository, currencies: new Map(), config } as never,
        registered: { ...registered, vmType: 'ethereum-vm', finality: { mode: 'depth', blocks: 2 } } as never,
        client,
        fillWallet: undefined,
        onMalformed: () => undefined,
      })
      const began = await settling.head(signal())
      const [sender] = bed.network.keys.users
      if (sender === undefined) throw new Error('no user')
      return {
        settling,
        client,
        wire,
        async deposit() {
          const data = encodeDepositNative(`0x${'11'.repeat(20)}`, id)
          return (await bed.send(sender, depository, data, 5n)).transactionId
        },
        newest: async () => ({ known: began, from: began + 1n, to: await settling.head(signal()) }),
        lose: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite: ({ method, params }, result) =>
              method !== 'eth_getLogs' && params[0] === transactionId ? null : result,
          }),
        refuse: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite: ({ method, params }, result) =>
              method !== 'eth_getLogs' && params[0] === transactionId ? { logs: 'none' } : result,
          }),
        leaveOut: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite: ({ method }, result) =>
              method === 'eth_getLogs' ? without(result, transactionId) : result,
          }),
        heal: () => proxy.set({ kind: 'pass' }),
      }
    },
  ],
  [
    'hyperliquid-vm',
    async () => {
      const bed = await startHyperliquidBed()
      onTestFinished(() => bed.stop())
      const [exchange] = bed.exchanges
      const { hubEntries } = bed
      const nowMs = Date.now()
      bed.map({ nonce: BigInt(nowMs), createdAtSeconds: BigInt(Math.floor(nowMs / 1_000)) })
      const wire = await startWire(exchange.url)
      const read = settle({ id: 'hyperliquid', vmType: 'hyperliquid-vm', depository: dex }, wire.url, {
        hubEntries,
      })
      const { settling } = read
      return {
        ...read,
        wire,
        deposit: async () => bed.list(usdSend({ time: BigInt(nowMs) }), { timeMs: nowMs }),
        newest: async () => {
          const to = await settling.head(signal())
          return { known: to, from: to - 60_000n, to }
        },
        lose: (transactionId) =>
          exchange.set({
            kind: 'lie',
            isAbout: ({ path, text }) => path === '/explorer' && text.includes(transactionId),
            rewrite: () => hyperliquidBodies.missing.body,
          }),
        refuse: (transactionId) =>
          exchange.set({
            kind: 'lie',
            isAbout: ({ path, text }) => path === '/explorer' && text.includes(transactionId),
            rewrite: () => ({ type: 'error', message: 'Internal error' }),
          }),
        leaveOut: (transactionId) =>
          exchange.set({
            kind: 'lie',
            isAbout: ({ path }) => path === '/info',
            rewrite: (_path, body) => without(body, transactionId),
          }),
        heal: () => exchange.set({ kind: 'none' }),
      }
    },
  ],
  [
    'lighter-vm',
    async () => {
      const [node] = await startNodes()
      if (node === undefined) throw new Error('no node')
      const wire = await startWire(node.url)
      const read = settle(
        {
          id: 'lighter',
          vmType: 'lighter-vm',
          depository: account,
          additionalData: { explorerApiUrl: new Secret(node.explorerUrl) },
        },
        wire.url,
      )
      return {
        ...read,
        wire,
        deposit: async () => put([node], transfer()),
        newest: async () => ({ known: queuedAtMs + 1n, from: queuedAtMs - 1n, to: queuedAtMs + 1n }),
        lose: (transactionId) =>
          node.fault((path, answer) =>
            path.startsWith('/api/v1/tx?') && path.includes(transactionId)
              ? { status: 400, text: lighterBodies.notFound.body.transaction }
              : answer,
          ),
        refuse: (transactionId) =>
          node.fault((path, answer) =>
            path.startsWith('/api/v1/tx?') && path.includes(transactionId)
              ? { status: 200, text: '{"code":200,"type":"?"}' }
              : answer,
          ),
        leaveOut: (transactionId) =>
          node.fault((path, answer) =>
            path.startsWith('/explorer/')
              ? { ...answer, text: JSON.stringify(without(JSON.parse(answer.text), transactionId)) }
              : answer,
          ),
        heal: () => node.fault(undefined),
      }
    },
  ],
  [
    'solana-vm',
    async () => {
      const bed = await startSolanaBed()
      onTestFinished(() => bed.stop())
      const [proxy] = await proxiesOf(bed, 1)
      if (proxy === undefined) throw new Error('no proxy')
      const wire = await startWire(proxy.url)
      const depository = bed.depository.program.toBase58()
      const read = settle({ id: 'solana', vmType: 'solana-vm', depository }, wire.url)
      let amount = 1_000n
      return {
        ...read,
        wire,
        async deposit() {
          amount += 1n
          return bed.send([depositNative(bed.depository, { sender: bed.user.publicKey, amount, id })])
        },
        newest: async () => ({ known: bed.node.slot('confirmed'), from: 1n, to: bed.node.slot('confirmed') }),
        lose: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite({ method, params }, result) {
              if (method === 'getSignatureStatuses') return { ...Object(result), value: [null] }
              return method === 'getTransaction' && params[0] === transactionId ? null : result
            },
          }),
        refuse: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite: ({ method, params }, result) =>
              method === 'getTransaction' && params[0] === transactionId ? { slot: 'none' } : result,
          }),
        leaveOut: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite: ({ method }, result) =>
              method === 'getSignaturesForAddress' ? without(result, transactionId) : result,
          }),
        heal: () => proxy.set({ kind: 'pass' }),
      }
    },
  ],
  [
    'bitcoin-vm',
    async () => {
      const chain = new ConstructedChain()
      const node = await startBitcoinNode(chain)
      onTestFinished(() => node.stop())
      const wire = await startWire(node.url('node'))
      // CAST: as the file of the chain has it.
      const registered = chainOf({ api: 'node', urls: [wire.url] }) as unknown as RegisteredChain
      const read = settle({ ...registered, depository: vault }, wire.url)
      const { settling } = read
      let value = 50_000n
      return {
        ...read,
        wire,
        async deposit() {
          value += 1_000n
          const made = funding({ script: user.witness.script, value: value + 1_000n })
          const paid = paying(
            [{ txid: made.getId(), vout: 0 }],
            [{ script: depositoryKey.legacy.script, value }, saying(id)],
          )
          chain.mine(made, paid)
          return paid.getId()
        },
        newest: async () => ({ known: 0n, from: 1n, to: await settling.head(signal()) }),
        lose: (transactionId) =>
          node.fault((what, answer) =>
            what === 'getrawtransaction' && answer.text.includes(transactionId)
              ? {
                  ...answer,
                  text: JSON.stringify({ ...Object(JSON.parse(answer.text)), ...bitcoinNone }),
                }
              : answer,
          ),
        refuse: (transactionId) =>
          node.fault((what, answer) =>
            what === 'getrawtransaction' && answer.text.includes(transactionId)
              ? { ...answer, text: '{"result":{},"error":null,"id":0}' }
              : answer,
          ),
        heal: () => node.fault(undefined),
      }
    },
  ],
  [
    'tron-vm',
    async () => {
      const bed = await tronBedOn(await startContracts())
      onTestFinished(() => bed.facade.stop())
      const wire = await startWire(bed.facade.url)
      const read = settle(
        {
          id: 'tron',
          vmType: 'tron-vm',
          depository: bed.depository,
          finality: { mode: 'tag' },
        },
        wire.url,
      )
      const { settling } = read
      const began = await settling.head(signal())
      return {
        ...read,
        wire,
        async deposit() {
          const { transactionId } = await bed.ledger.submit(bed.user, {
            kind: 'trigger',
            to: bed.evm.deployment.depository,
            callValue: 5n,
            data: encodeDepositNative(`0x${'11'.repeat(20)}`, id),
          })
          await bed.evm.mine(1)
          return transactionId
        },
        newest: async () => ({ known: began, from: began + 1n, to: await settling.head(signal()) }),
        lose: (transactionId) =>
          bed.facade.set({
            kind: 'lie',
            isAbout: ({ path, text }) => path.includes('byid') && text.includes(transactionId),
            rewrite: () => ({}),
          }),
        refuse: (transactionId) =>
          bed.facade.set({
            kind: 'lie',
            isAbout: ({ path, text }) => path.includes('byid') && text.includes(transactionId),
            rewrite: () => ({ id: 'none' }),
          }),
        heal: () => bed.facade.set({ kind: 'none' }),
      }
    },
  ],
]

const whole = 'reads whole blocks, of which nothing is refused or comes late'
const ledger = 'reads pages of what one account did, however much one block holds'
const paths = 'asks by paths, one question in a request'
const none = 'has no deposit addresses'
const withoutForm: Readonly<Record<string, WithoutForm>> = {
  'hyperliquid-vm': { 'blocks read apart': ledger, batches: paths, 'payments in blocks': none },
  'lighter-vm': {
    'blocks read apart': ledger,
    batches: paths,
    'payments in blocks': none,
    'long answers': 'a transaction has some hundred bytes, and its reader takes a megabyte',
  },
  'solana-vm': { 'blocks read apart': ledger, 'payments in blocks': 'addresses are looked at in turn' },
  'bitcoin-vm': { 'late lists': whole, 'blocks read apart': whole },
  'tron-vm': {
    'late lists': whole,
    'blocks read apart': whole,
    batches: paths,
    'payments in blocks': 'contracts make the addresses, or nobody does',
  },
}

for (const [family, start] of families) describeReader(family, start, withoutForm[family] ?? {})
