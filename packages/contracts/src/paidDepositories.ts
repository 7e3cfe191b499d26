import { bytesToHex, ConfigurationError, type Hex } from '@causeway/core'
import type { SettlementFile } from '@causeway/core/config'
import { solanaCodec, tronEvmAddress, type VmType } from '@causeway/core/encodings'
import type { PaidDepository } from './settlement.ts'

type Entry = SettlementFile['depositories'][number]

/** Facts of the chain file on a chain whose depository an allocator pays from. */
type PaidChain = {
  readonly vmType: VmType
  /** Number of the chain in the hub's contracts. */
  readonly hubChainId: string
  readonly depository?: string | undefined
}

/**
 * Completes the depositories of the settlement file with facts of the chain file: the address, the chain's number on the
 * hub, and the payload builder of its family.
 * @param chains by chain key
 * @throws ConfigurationError naming every entry that lacks something
 */
export function paidDepositories(
  entries: readonly Entry[],
  chains: ReadonlyMap<string, PaidChain>,
): readonly PaidDepository[] {
  const problems: string[] = []
  const paid = entries.flatMap((entry) => {
    const chain = chains.get(entry.chain)
    if (chain?.depository === undefined) {
      problems.push(`depositories: ${entry.chain} has no depository in the chain file`)
      return []
    }
    const builder = builderOf(entry, chain)
    if (typeof builder === 'string') {
      problems.push(`depositories: ${entry.chain}.${builder} is needed`)
      return []
    }
    const { vmType, hubChainId, depository } = chain
    // Withdrawal requests on the hub name Tron's accounts as 20 bytes in hex, not in base58.
    const hubAddress = vmType === 'tron-vm' ? tronEvmAddress(depository) : depository
    return [{ chainId: BigInt(hubChainId), depository: hubAddress, builder }]
  })
  if (problems.length > 0) throw new ConfigurationError(`Bad settlement file:\n- ${problems.join('\n- ')}`)
  return paid
}

/** @returns the builder with its parameters; or, as a text, the name of the member that the entry lacks */
function builderOf(
  { domain, vault, networkName, networkId, tokens }: Entry,
  { vmType }: PaidChain,
): PaidDepository['builder'] | string {
  switch (vmType) {
    case 'ethereum-vm':
    case 'tron-vm':
      return { name: 'EvmPayloadBuilder' }
    case 'bitcoin-vm':
      return { name: 'BitcoinPayloadBuilder' }
    case 'solana-vm':
      if (domain === undefined) return 'domain'
      if (vault === undefined) return 'vault'
      return {
        name: 'SolanaPayloadBuilder',
        domain,
        vault: bytesToHex(solanaCodec.encodeAddress(vault)),
      }
    case 'hyperliquid-vm':
      if (networkName === undefined) return 'networkName'
      if (tokens === undefined) return 'tokens'
      return {
        name: 'HyperliquidPayloadBuilder',
        networkName,
        // CAST: the schema takes 0x and 32 hex digits alone.
        tokens: tokens.map(({ token, decimals }) => ({ token: token as Hex, decimals })),
      }
    case 'lighter-vm':
      if (networkId === undefined) return 'networkId'
      return { name: 'LighterPayloadBuilder', networkId: BigInt(networkId) }
    default:
      throw new ConfigurationError(`depositories: no allocator pays from chains of ${vmType}`)
  }
}
