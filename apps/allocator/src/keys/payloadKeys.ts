import {
  bytesToHex,
  ConfigurationError,
  type Hex,
  hexToBytes,
  type Secret,
  type Signer,
} from '@causeway/core'
import { ed25519 } from '@noble/curves/ed25519.js'
import type { IssuedPayload, Verdict } from '../payloads/issued.ts'
import type { PayingDepository } from '../payloads/payingDepository.ts'

/** Verdict on a payload that may be signed. */
export type Signable = Extract<Verdict, { readonly kind: 'sign' }>

/** The allocator's keys: one on secp256k1, and one on Ed25519 where a depository (Solana) verifies no other curve. */
export interface PayloadKeys {
  /** Lower-case address of the key on secp256k1. */
  readonly address: Hex
  /**
   * Signs hash number `index` of a payload that may be signed. Ed25519 signatures have 64 bytes, all others 65.
   * @throws SignerFailedError
   */
  sign(
    issued: IssuedPayload,
    verdict: Signable,
    index: number,
    options: { readonly signal: AbortSignal },
  ): Promise<Hex>
}

/** VM families whose depositories verify Ed25519 alone. */
const onEd25519: ReadonlySet<PayingDepository['vmType']> = new Set(['solana-vm'])

/**
 * @param keys.ed25519 32 bytes in hex
 * @throws ConfigurationError when a depository obeys a key that is not there, or a key has no use
 */
export function createPayloadKeys(
  keys: { readonly signer: Signer; readonly ed25519: Secret | undefined },
  payers: readonly PayingDepository[],
): PayloadKeys {
  const ed25519Chains = payers.filter(({ vmType }) => onEd25519.has(vmType)).map(({ chain }) => chain)
  if (keys.ed25519 === undefined && ed25519Chains.length > 0) {
    throw new ConfigurationError(
      `ALLOCATOR_ED25519_PRIVATE_KEY or ALLOCATOR_ED25519_PRIVATE_KEY_FILE is required: ${ed25519Chains.join(', ')} obeys no other curve.`,
    )
  }
  if (keys.ed25519 !== undefined && ed25519Chains.length === 0) {
    throw new ConfigurationError(
      'ALLOCATOR_ED25519_PRIVATE_KEY is set, and no depository obeys it: remove it.',
    )
  }
  const { signer, ed25519: ownEd25519 } = keys
  return {
    address: signer.address,
    async sign({ payload, request }, { payer, hashes }, index, options) {
      const { vmType } = payer
      const hash = hashes[index]
      if (hash === undefined) throw new RangeError('the payload has no such part')
      if (onEd25519.has(vmType)) return signEd25519(hash, ownEd25519)
      const { chainId: hubChainId, depository } = request
      return signer.sign(
        { purpose: 'payload', vmType, payload, payer: { hubChainId, depository }, index },
        options,
      )
    },
  }
}

function signEd25519(hash: Hex, key: Secret | undefined): Hex {
  if (key === undefined) throw new Error('no key on Ed25519: it was checked at start')
  // CAST: checked against the form when it was read.
  return bytesToHex(ed25519.sign(hexToBytes(hash), hexToBytes(key.reveal() as Hex)))
}

/** Public key, 32 bytes. */
export function ed25519PublicKey(key: Hex): Uint8Array {
  return ed25519.getPublicKey(hexToBytes(key))
}
