import type { Hex } from '@causeway/core'
import { tronAddress } from '@causeway/core/encodings'
import { recordsPayments as isOurs } from '@causeway/localnet'
import { onTestFinished } from 'vitest'
import {
  createTronFactsReader,
  type TronFactsReader,
  type TronFactsReaderOptions,
} from '../../../packages/families/src/tron/reading/factsReader.ts'
import type { HttpView } from '../../../packages/rpc/src/httpView.ts'
import {
  createHttpQuorumClient,
  type QuorumClient,
  type QuorumLimits,
} from '../../../packages/rpc/src/quorumClient.ts'
import type { TronBed } from './startTronBed.ts'

export { aSignal } from '../ethereumSupport/chainBed.ts'
export { chainId, startTronBed, type TronBed, trx } from './startTronBed.ts'

export type ReaderSettings = Partial<Omit<TronFactsReaderOptions['chain'], 'id'>> & {
  /** Default: the bed's own facade. */
  readonly urls?: readonly string[]
  readonly threshold?: number
  readonly quorumLimits?: Partial<QuorumLimits>
  readonly limits?: TronFactsReaderOptions['limits']
  /** Default: contracts of this release. */
  readonly recordsPayments?: (code: Hex) => boolean
}

type OpenReader = { readonly reader: TronFactsReader; readonly quorum: QuorumClient<HttpView> }

/** Without rules of blocks and seconds: what is solidified is final. */
export function openReader(bed: TronBed, settings: ReaderSettings = {}): OpenReader {
  const { urls = [bed.facade.url], threshold, quorumLimits, limits, ...rest } = settings
  const { recordsPayments = isOurs, ...chain } = rest
  const quorum = createHttpQuorumClient({
    chainId: 'tron',
    endpoints: urls.map((url, index) => ({ url, alias: `t${index + 1}` })),
    limits: { readingTimeoutMs: 30_000, requestTimeoutMs: 20_000, ...quorumLimits },
    ...(threshold !== undefined && { threshold }),
  })
  const reader = createTronFactsReader({
    chain: {
      id: 'tron',
      depository: bed.depository,
      finality: { mode: 'tag' },
      fillContracts: [tronAddress(bed.evm.deployment.fillContract)],
      ...chain,
    },
    quorum,
    recordsPayments,
    ...(limits !== undefined && { limits }),
  })
  return { reader, quorum }
}

/** A reader that is closed when the test ends. */
export function readerOf(bed: TronBed, settings: ReaderSettings = {}): OpenReader {
  const opened = openReader(bed, settings)
  onTestFinished(() => opened.quorum.close())
  return opened
}

/** Base58 of 20 equal bytes. */
export function accountOf(byte: string): { readonly base58: string; readonly bytes: Hex } {
  const bytes: Hex = `0x${byte.repeat(20)}`
  return { base58: tronAddress(bytes), bytes }
}
