import { Secret } from '@causeway/core'
import type { BitcoinApi } from '@causeway/localnet/standIns/bitcoin'
import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { Transaction } from 'bitcoinjs-lib'
import { onTestFinished } from 'vitest'
import { openBitcoinChain } from '../../src/bitcoin-vm/openBitcoinChain.ts'
import type { FamilyChain, ReadableChain } from '../../src/family/familyChain.ts'

export const depositoryKey = keyOf('depository')
export const additionalKey = keyOf('additional depository')
export const user = keyOf('user')
export const solver = keyOf('solver')

export const depository = depositoryKey.legacy.address
export const additional = additionalKey.witness.address

export const orderId = `0x${'ab'.repeat(32)}` as const
export const noOrder = `0x${'0'.repeat(64)}` as const
export const native = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'

export const aSignal = () => ({ signal: AbortSignal.timeout(60_000) })

export type Source = { readonly txid: string; readonly vout: number }
export type Output = { readonly script: Uint8Array; readonly value: bigint }

/** A transaction that makes outputs from nothing known. */
export function funding(...outputs: readonly Output[]): Transaction {
  seed += 1
  const transaction = new Transaction()
  transaction.addInput(Buffer.alloc(32, seed), seed, 0xffff_ffff, Uint8Array.of(0x51))
  for (const { script, value } of outputs) transaction.addOutput(script, value)
  return transaction
}
let seed = 0

/** A transaction with these inputs and outputs, unsigned: readers look at scripts, not at signatures. */
export function paying(sources: readonly Source[], outputs: readonly Output[]): Transaction {
  const transaction = new Transaction()
  transaction.version = 2
  for (const { txid, vout } of sources) {
    transaction.addInput(Uint8Array.from(Buffer.from(txid, 'hex')).reverse(), vout)
  }
  for (const { script, value } of outputs) transaction.addOutput(script, value)
  return transaction
}

/** OP_RETURN with one push, in its shortest form. */
export function saying(text: string | Uint8Array): Output {
  const data = Buffer.from(text)
  const push =
    data.length <= 0x4b
      ? [data.length]
      : data.length <= 0xff
        ? [0x4c, data.length]
        : [0x4d, data.length & 0xff, data.length >> 8]
  return { script: Uint8Array.of(0x6a, ...push, ...data), value: 0n }
}

export type BitcoinChainOptions = {
  readonly api: BitcoinApi
  readonly urls: readonly string[]
  /** Esplora services beside nodes, for what spent an output. */
  readonly lookup?: readonly string[]
  readonly finalEntriesMax?: number
  readonly change?: Partial<ReadableChain>
}

/** Closed when the test ends. */
export function openChain(options: BitcoinChainOptions): FamilyChain {
  const chain = openBitcoinChain(chainOf(options), { finalEntriesMax: options.finalEntriesMax ?? 0 })
  onTestFinished(() => chain.close())
  return chain
}

export function chainOf({ api, urls, lookup = [], change = {} }: BitcoinChainOptions): ReadableChain {
  const apis = api === 'esplora' ? urls : lookup
  return {
    id: 'bitcoin',
    vmType: 'bitcoin-vm',
    network: 'regtest',
    hubChainId: '7',
    depository,
    additionalDepositories: [additional],
    finality: { mode: 'depth', blocks: 3 },
    endpoints: api === 'node' ? urls.map((url) => new Secret(url)) : [],
    ready: api === 'node',
    unsetVariables: [],
    rpcThreshold: api === 'node' ? Math.ceil((2 * urls.length) / 3) : 1,
    additionalData: apis.length === 0 ? {} : { esploraCompatibleApiUrl: new Secret(apis.join(',')) },
    ...change,
  }
}
