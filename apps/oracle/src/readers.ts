import { isReadable, missingSettings } from '@causeway/chains'
import { recordsPayments } from '@causeway/contracts/codes'
import type { VmType } from '@causeway/core/encodings'
import {
  chainFamilies,
  type FamilyChain,
  type HubEntries,
  type KnownCode,
  type OpenFamilyChain,
  type RegisteredChain,
  rememberUnread,
} from '@causeway/families'
import type { WatchLog } from './halt/watchedChain.ts'

/**
 * The functions that open a chain's reader, by VM family. Each stands in the `reading` folder of its family, under
 * `packages/families/src`, and answers by what a quorum of endpoints agrees on:
 *
 * - `ethereum-vm`, `ethereum`: receipts, events and calldata of EVM chains; blocks are final by depth, time or tag.
 * - `solana-vm`, `solana`: transactions with their inner instructions and balances, once they are finalized.
 * - `bitcoin-vm`, `bitcoin`: transactions by their bytes, of nodes and Esplora APIs; blocks are final by depth.
 * - `tron-vm`, `tron`: events and signed bytes of Tron's HTTP API, in solidified blocks.
 * - `hyperliquid-vm`, `hyperliquid`: the exchange's ledger of transfers, and the hub's entries that name their orders.
 * - `lighter-vm`, `lighter`: the exchange's transfers and their memos; explorers only name them.
 *
 * It is the registry of families itself, so that a further family needs no line here.
 * @source F-167
 */
const readers: Readonly<Record<VmType, { readonly open: OpenFamilyChain }>> = chainFamilies

/** Opens each chain that can be read, and no connection yet; logs the settings that the others lack. */
export function openReaders(
  chains: readonly RegisteredChain[],
  hubEntries: HubEntries | undefined,
  options: {
    /** Final transactions that each chain keeps; 0 reads every one again. */
    readonly finalResultsKeptMax: number
    readonly isKnownCode: KnownCode
    readonly log: Pick<WatchLog, 'warn'>
  },
): ReadonlyMap<string, FamilyChain> {
  const { finalResultsKeptMax: finalEntriesMax, isKnownCode, log } = options
  const open = new Map<string, FamilyChain>()
  for (const chain of chains) {
    if (isReadable(chain)) {
      const limits = { finalEntriesMax, isKnownCode, recordsPayments }
      const opened = readers[chain.vmType].open(chain, limits, hubEntries)
      // A transaction that cannot be read is put aside: until its next try it fails without asking the chain.
      open.set(chain.id, { ...opened, reader: rememberUnread(opened.reader, () => performance.now()) })
    } else {
      const { id, vmType, unsetVariables } = chain
      const missing = missingSettings(chain)
      log.warn(
        { event: 'chain_unavailable', chain: id, vmType, missing, unsetVariables },
        'chain cannot be read',
      )
    }
  }
  return open
}
