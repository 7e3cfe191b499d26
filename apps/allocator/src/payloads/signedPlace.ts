import type { Hex, ProtocolChain } from '@causeway/core'
import type { AllocatorDepository } from '@causeway/core/config'
import {
  bitcoinNetworkOf,
  InvalidWithdrawalError,
  mainNetwork,
  tronEvmAddress,
  type VmType,
} from '@causeway/core/encodings'
import {
  bitcoinWithdrawalTransfer,
  decodeBitcoinWithdrawal,
  decodeEvmWithdrawal,
  decodeHyperliquidWithdrawal,
  decodeLighterWithdrawal,
  decodeSolanaWithdrawal,
  families,
  hyperliquidNativeDecimals,
  hyperliquidWithdrawalTransfer,
  lighterWithdrawalTransfer,
  payloadWithdrawal,
  scriptAddress,
  solanaWithdrawalTransfer,
  tronWithdrawalTransfer,
  withdrawalTransfer,
} from '@causeway/families/rules'

/** A depository that the allocator's key may pay from. */
type Place = {
  /** String id, which names accounts and tokens on the hub. */
  readonly chain: string
  /** The chain's number on the hub. */
  readonly hubChainId: string
  /** Canonical in its family. */
  readonly depository: string
}

/** A place, and what else its payloads have to say. */
export type SignedPlace =
  | (Place & { readonly vmType: 'ethereum-vm' | 'tron-vm' })
  | (Place & { readonly vmType: 'solana-vm'; readonly domain: Hex; readonly vault: string })
  | (Place & { readonly vmType: 'bitcoin-vm'; readonly network: string | undefined })
  | (Place & {
      readonly vmType: 'hyperliquid-vm'
      readonly networkName: string
      readonly tokens: readonly { readonly token: string; readonly decimals: number }[]
    })
  | (Place & { readonly vmType: 'lighter-vm'; readonly lighterChainId: string })

/** Chain of a depository, from the chain file. */
export type PlaceChain = {
  readonly id: string
  readonly vmType: VmType
  readonly network?: string | undefined
  readonly hubChainId: string
  readonly depository?: string | undefined
}

/**
 * A depository of the allocator file, completed by the chain file.
 * @param problems takes what is missing or means nothing there, by name
 */
export function signedPlaceOf(
  chain: PlaceChain,
  entry: AllocatorDepository,
  problems: string[],
): SignedPlace | undefined {
  const { id, vmType, hubChainId, depository } = chain
  const { depositoryMembers } = families[vmType]
  const ownMembers: readonly string[] = depositoryMembers
  const { chain: _chain, caps: _caps, ...members } = entry
  for (const [member, value] of Object.entries(members)) {
    if (value !== undefined && !ownMembers.includes(member))
      problems.push(`${id}.${member} means nothing there`)
  }
  const { domain, vault, networkName, tokens, networkId } = entry
  const missing = depositoryMembers.filter((member) => entry[member] === undefined)
  for (const member of missing) problems.push(`${id}.${member} is needed`)
  if (depository === undefined) {
    problems.push(`${id} has no depository in the chain file`)
    return undefined
  }
  const place = { chain: id, hubChainId, depository }
  switch (vmType) {
    case 'ethereum-vm':
    case 'tron-vm':
      return { ...place, vmType }
    case 'bitcoin-vm':
      return { ...place, vmType, network: chain.network }
    case 'solana-vm':
      return domain === undefined || vault === undefined ? undefined : { ...place, vmType, domain, vault }
    case 'hyperliquid-vm':
      return networkName === undefined || tokens === undefined
        ? undefined
        : { ...place, vmType, networkName, tokens }
    case 'lighter-vm':
      return networkId === undefined ? undefined : { ...place, vmType, lighterChainId: networkId }
    default:
      problems.push(`${id}: no allocator pays from chains of ${vmType}`)
      return undefined
  }
}

/** The chain as `core` knows it. */
export function chainOfPlace(place: SignedPlace): ProtocolChain & { readonly hubChainId: string } {
  const { vmType, hubChainId, chain: chainId } = place
  const { network } = place.vmType === 'bitcoin-vm' ? place : mainNetwork(vmType)
  return { chainId, vmType, hubChainId, network }
}

/** The depository as requests spell it. */
export function requestedDepository({ vmType, depository }: SignedPlace): string {
  return vmType === 'tron-vm' ? tronEvmAddress(depository) : depository
}

/** Payment of a payload, in its family's canonical spelling. */
export type PayloadPayment = {
  readonly currency: string
  readonly amount: bigint
  readonly recipient: string
  /** Absent where a payload has no place for it. */
  readonly nonce?: bigint
  /** False for a payload of another deployment, or with money that goes elsewhere beside the payment. */
  readonly isOfPlace: boolean
}

/** @throws InvalidWithdrawalError for a payload that cannot be read */
export function paymentOf(place: SignedPlace, payload: Hex): PayloadPayment {
  switch (place.vmType) {
    case 'ethereum-vm': {
      const call = decodeEvmWithdrawal(payload)
      return { ...withdrawalTransfer(call), nonce: call.nonce, isOfPlace: true }
    }
    case 'tron-vm': {
      const call = decodeEvmWithdrawal(payload)
      return { ...tronWithdrawalTransfer(call), nonce: call.nonce, isOfPlace: true }
    }
    case 'solana-vm': {
      const request = decodeSolanaWithdrawal(payload)
      const isOfPlace = request.vaultAddress === place.vault && request.domain === place.domain
      return { ...solanaWithdrawalTransfer(request), nonce: request.nonce, isOfPlace }
    }
    case 'bitcoin-vm':
      return bitcoinPayment(place, payload)
    case 'hyperliquid-vm':
      return hyperliquidPayment(place, payload)
    case 'lighter-vm': {
      const transfer = decodeLighterWithdrawal(payload)
      const isOfPlace =
        transfer.lighterChainId === BigInt(place.lighterChainId) &&
        transfer.fromAccountIndex.toString() === place.depository
      return { ...lighterWithdrawalTransfer(transfer), isOfPlace }
    }
  }
}

/** Everything that it spends is the depository's, and all but the payment and its fee comes back. */
function bitcoinPayment(
  { depository, network: name }: Extract<SignedPlace, { vmType: 'bitcoin-vm' }>,
  payload: Hex,
): PayloadPayment {
  const network = bitcoinNetworkOf(name)
  const withdrawal = decodeBitcoinWithdrawal(payloadWithdrawal('bitcoin-vm', payload))
  const { inputs, transaction } = withdrawal
  const isOwn = (script: Uint8Array) => scriptAddress(script, network) === depository
  const isOfPlace =
    inputs.every(({ spent }) => isOwn(spent.script)) &&
    transaction.outputs.slice(1).every(({ script }) => isOwn(script))
  return { ...bitcoinWithdrawalTransfer(withdrawal, network), isOfPlace }
}

function hyperliquidPayment(
  { tokens, networkName }: Extract<SignedPlace, { vmType: 'hyperliquid-vm' }>,
  payload: Hex,
): PayloadPayment {
  const action = decodeHyperliquidWithdrawal(payload)
  const decimals =
    action.type === 'UsdSend'
      ? hyperliquidNativeDecimals
      : tokens.find(({ token }) => action.token.endsWith(`:${token}`))?.decimals
  if (decimals === undefined) throw new InvalidWithdrawalError('the decimals of its token are not known')
  const isInside =
    action.type === 'UsdSend' || (action.sourceDex === action.destinationDex && action.fromSubAccount === '')
  return {
    ...hyperliquidWithdrawalTransfer(action, decimals),
    isOfPlace: action.hyperliquidChain === networkName && isInside,
  }
}
