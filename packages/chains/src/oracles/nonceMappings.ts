import {
  type Hex,
  type NonceMapping,
  nonceMappingEntry,
  nonceMappingTypedData,
  UpstreamUnavailableError,
} from '@causeway/core'
import { mainNetwork, type VmType } from '@causeway/core/encodings'
import type { HubEntries, MappingWriter, NonceMappings } from '@causeway/families'
import { type VouchedEntry, type VouchingOracles, vouchForEntry } from './vouching.ts'

/** A wallet's signed statement of what the transfer with one of its own nonces is for. */
export type SignedStatement = {
  readonly mapping: NonceMapping
  readonly vmType: VmType
  readonly signature: Hex
  /** String id of the EVM chain whose number is in the EIP-712 domain that the wallet signed. */
  readonly signatureChainId: string
}

/**
 * Asks oracles to sign a wallet's statement about a nonce of its own, so that it can be written to the hub.
 * @returns the entry of the hub with the oracles' signatures; `denied` and `silent` as `vouchForEntry`
 */
export function vouchForMapping(
  vouching: VouchingOracles,
  { mapping, vmType, signature, signatureChainId }: SignedStatement,
  signal: AbortSignal,
): Promise<VouchedEntry | 'denied' | 'silent'> {
  const request = { ...mapping, nonce: `${mapping.nonce}`, signatureChainId, signature }
  return vouchForEntry(vouching, nonceMappingEntry(mapping, mainNetwork(vmType)), (oracle, entry) =>
    oracle.attestMapping(request, entry, signal),
  )
}

/** Timeout for oracles while a wallet waits for the answer, ms. */
export const vouchTimeoutMs = 9_000
/** Timeout of a whole statement: the oracles, then the hub transaction; ms. */
export const statementTimeoutMs = vouchTimeoutMs + 6_000
/** Timeout for statements of our own fill wallet, ms: short, as other chains wait and it is tried again. */
const ownTimeoutMs = 5_000

/**
 * Stands for the unknown id when an entry is read. The wallet then stands for the unknown depositor: the key
 * of an entry depends on neither.
 */
const noId: Hex = `0x${'0'.repeat(64)}`

/** Publishes the nonce mappings of one chain's fill wallets through oracles and the hub. */
export function createNonceMappings(options: {
  /** The chain of the transfers. */
  readonly chain: { readonly id: string; readonly vmType: VmType }
  readonly vouching: VouchingOracles
  readonly writer: MappingWriter
  readonly entries: HubEntries
  /** The EVM chain under whose number the wallet signs: any that the oracles know. */
  readonly signatureChain: { readonly id: string; readonly number: number }
}): NonceMappings {
  const { chain, vouching, writer, entries, signatureChain } = options
  const { id: walletChainId, vmType } = chain
  return {
    async read({ wallet, nonce }, signal) {
      const entry = nonceMappingEntry(
        { walletChainId, wallet, nonce, id: noId, depositor: wallet },
        mainNetwork(vmType),
      )
      const { data, createdAtSeconds } = await entries.read(entry.user, entry.id, { signal })
      // The hub answers the time 0 for an entry that was never written.
      if (createdAtSeconds === 0n) return undefined
      // 32 bytes of the id, then the depositor, as `nonceMappingEntry` joins them.
      return { id: `0x${data.slice(2, 66)}`, depositor: `0x${data.slice(66)}` }
    },
    async write(statement, sign) {
      const mapping: NonceMapping = { ...statement, walletChainId }
      const signature = await sign({
        ...nonceMappingTypedData(signatureChain.number),
        message: { ...statement, chainId: walletChainId },
      })
      const signed = { mapping, vmType, signature, signatureChainId: signatureChain.id }
      const vouched = await vouchForMapping(vouching, signed, AbortSignal.timeout(ownTimeoutMs))
      // A refusal counts as unavailable too: the next round tries again.
      if (vouched === 'denied' || vouched === 'silent')
        throw new UpstreamUnavailableError('Too few oracles vouch for a nonce of the fill wallet.')
      await writer.write(vouched.entry, vouched.proof, AbortSignal.timeout(ownTimeoutMs))
    },
  }
}
