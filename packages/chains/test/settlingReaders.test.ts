// Goal: whatever one transaction does, the others of its chain are listed and read, in every family that is settled
// without contract calls. Method: one contract over a fixture per family, each a chain with an honest deposit and one
// that all endpoints refuse to show. What contracts settle is shown by the service over real nodes.
import { encodeDepositNative, Secret, UpstreamUnavailableError } from '@causeway/core'
import { ConstructedChain, startBitcoinNode } from '@causeway/localnet/standIns/bitcoin'
import { depositNative } from '@causeway/localnet/standIns/solana'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSettlingChain } from '../src/chainFamilies.ts'
import type { SettlingChain } from '../src/family/settlingChain.ts'
import { connectQuotingChain, type RegisteredChain } from '../src/index.ts'
import {
  chainOf,
  depositoryKey,
  funding,
  paying,
  saying,
  user,
  depository as vault,
} from './bitcoinSupport/bitcoinBed.ts'
import { depository as dex, startHyperliquidBed, usdSend } from './hyperliquidSupport/startHyperliquidBed.ts'
import { depository as account, put, queuedAtMs, startNodes, transfer } from './lighterSupport/lighterBed.ts'
import { proxiesOf, settlingOf, startSolanaBed } from './solanaSupport/solanaBed.ts'
import { startTronBed } from './tronSupport/startTronBed.ts'

const id = `0x${'ab'.repeat(32)}` as const
const signal = () => AbortSignal.timeout(30_000)

type ReaderFixture = {
  readonly settling: SettlingChain
  /** One after the other; their ids. */
  deposit(): Promise<string>
  /** From below what was read to the newest. */
  newest(): Promise<{ readonly known: bigint; readonly from: bigint; readonly to: bigint }>
  /** No endpoint answers for it. */
  refuse(transactionId: string): void | Promise<void>
  heal(): void | Promise<void>
}

function settle(
  parts: Pick<RegisteredChain, 'vmType'> & Partial<RegisteredChain> & { readonly id: string },
  url: string,
  options: Parameters<typeof openSettlingChain>[2] = {},
): SettlingChain {
  // CAST: a chain as its file describes it, with the members that settling looks at.
  const chain = {
    ...{ endpoints: [new Secret(url)], ready: true, unsetVariables: [], rpcThreshold: 1, additionalData: {} },
    ...{ hubChainId: '7', network: undefined, ...parts },
  } as unknown as RegisteredChain
  const client = connectQuotingChain(chain)
  const settling = client && openSettlingChain(chain, client, options)
  if (client === undefined || settling === undefined) throw new Error(`${parts.vmType} is not settled`)
  onTestFinished(() => client.close())
  return settling
}

const families: readonly (readonly [string, () => Promise<ReaderFixture>])[] = [
  [
    'hyperliquid-vm',
    async () => {
      const bed = await startHyperliquidBed()
      onTestFinished(() => bed.stop())
      const [exchange] = bed.exchanges
      const { hubEntries } = bed
      const nowMs = Date.now()
      bed.map({ nonce: BigInt(nowMs), createdAtSeconds: BigInt(Math.floor(nowMs / 1_000)) })
      const settling = settle(
        { id: 'hyperliquid', vmType: 'hyperliquid-vm', depository: dex },
        exchange.url,
        { hubEntries },
      )
      return {
        settling,
        deposit: async () => bed.list(usdSend({ time: BigInt(nowMs) }), { timeMs: nowMs }),
        newest: async () => {
          const to = await settling.head(signal())
          return { known: to, from: to - 60_000n, to }
        },
        refuse: (transactionId) =>
          exchange.set({
            kind: 'lie',
            isAbout: ({ path, text }) => path === '/explorer' && text.includes(transactionId),
            rewrite: () => ({ type: 'error', message: 'Internal error' }),
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
      const settling = settle(
        {
          ...{ id: 'lighter', vmType: 'lighter-vm', depository: account },
          additionalData: { explorerApiUrl: new Secret(node.explorerUrl) },
        },
        node.url,
      )
      return {
        settling,
        deposit: async () => put([node], transfer()),
        newest: async () => ({ known: queuedAtMs + 1n, from: queuedAtMs - 1n, to: queuedAtMs + 1n }),
        refuse: (transactionId) =>
          node.fault((path, answer) =>
            path.startsWith('/api/v1/tx?') && path.includes(transactionId)
              ? { status: 200, text: '{"code":200,"type":"?"}' }
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
      const settling = settlingOf(bed, [proxy.url])
      let amount = 1_000n
      return {
        settling,
        async deposit() {
          amount += 1n
          return bed.send([depositNative(bed.depository, { sender: bed.user.publicKey, amount, id })])
        },
        newest: async () => ({ known: bed.node.slot('confirmed'), from: 1n, to: bed.node.slot('confirmed') }),
        refuse: (transactionId) =>
          proxy.set({
            kind: 'lie',
            rewrite: ({ method, params }, result) =>
              method === 'getTransaction' && params[0] === transactionId ? { slot: 'none' } : result,
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
      // CAST: as the file of the chain has it.
      const registered = chainOf({ api: 'node', urls: [node.url('node')] }) as unknown as RegisteredChain
      const settling = settle({ ...registered, depository: vault }, node.url('node'))
      let value = 50_000n
      return {
        settling,
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
      const bed = await startTronBed()
      onTestFinished(() => bed.stop())
      const settling = settle(
        {
          ...{ id: 'tron', vmType: 'tron-vm', depository: bed.depository, finality: { mode: 'tag' } },
        },
        bed.facade.url,
      )
      return {
        settling,
        async deposit() {
          const { transactionId } = await bed.ledger.submit(bed.user, {
            ...{ kind: 'trigger', to: bed.evm.deployment.depository, callValue: 5n },
            data: encodeDepositNative(`0x${'11'.repeat(20)}`, id),
          })
          await bed.evm.mine(1)
          return transactionId
        },
        newest: async () => {
          const to = await settling.head(signal())
          return { known: to, from: to - 5n, to }
        },
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

describe.each(families)('%s', (_family, start) => {
  test('F-72: a transaction that no endpoint answers for is listed beside all others, which are read', async () => {
    const { settling, deposit, newest, refuse, heal } = await start()
    const [strange, honest] = [await deposit(), await deposit()]
    await refuse(strange)
    const listed = await settling.depositPass(await newest(), signal())
    expect([...listed.transactions].toSorted()).toEqual([strange, honest].toSorted())
    // A watcher passes by what is no answer, and by nothing else.
    await expect(settling.deposits(strange, signal())).rejects.toBeInstanceOf(UpstreamUnavailableError)
    expect((await settling.deposits(honest, signal()))?.deposits).toHaveLength(1)
    await heal()
    expect((await settling.deposits(strange, signal()))?.deposits).toHaveLength(1)
  })
})
