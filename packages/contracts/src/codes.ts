// Recognizes the code of deployed contracts, which services check at start. Imports no viem, which loads slowly.

import { type Hex, hexToBytes, keccak256Hex, utf8Bytes } from '@causeway/core'
import { create2Address } from '@causeway/families/rules'
import { codeHashOf } from './codeHash.ts'
import { shippedCodes } from './codes.generated.ts'
import { type EarlierCode, earlierCodes } from './earlierCodes.ts'
import { publicCodes } from './publicCodes.ts'
import type { DeployedName } from './renderCodes.ts'

export { type PublicCode, publicCodes } from './publicCodes.ts'
export { type DeployedName, deployedNames } from './renderCodes.ts'

/**
 * Kind of code at the address of a contract: none (`missing`), that of this release (`ours`), of an earlier release, of
 * the public contract (see `publicCodes`), or unknown code (`foreign`).
 */
export type CodeState = 'missing' | 'ours' | 'earlier' | 'public' | 'foreign'

/** @param code result of `eth_getCode` @throws RangeError when it is not hex */
export function codeStateOf(name: DeployedName, code: Hex | undefined): CodeState {
  if (code === undefined || code === '0x') return 'missing'
  const { codeHash, immutables } = shippedCodes[name]
  if (codeHashOf(code, immutables) === codeHash) return 'ours'
  // Each known code has its own spans of immutables, so each needs a hash of its own.
  const isAmong = (knownCodes: readonly EarlierCode[]) =>
    knownCodes.some((known) => known.name === name && codeHashOf(code, known.immutables) === known.codeHash)
  if (isAmong(earlierCodes)) return 'earlier'
  return isAmong(publicCodes) ? 'public' : 'foreign'
}

/** True if the code is that of the named contract, of any release or public. */
export function isKnownCode(name: DeployedName, code: Hex): boolean {
  return ['ours', 'earlier', 'public'].includes(codeStateOf(name, code))
}

/**
 * True if a fill contract's records prove payments. Its `pay`, `fill` and event `Paid` must mean what they mean in this
 * release, which holds for the code of this release and of all earlier ones.
 * @param code result of `eth_getCode`
 */
export function recordsPayments(code: Hex): boolean {
  return ['ours', 'earlier'].includes(codeStateOf('FillContract', code))
}

/**
 * The public deterministic deployment proxy, through which all contracts are deployed by CREATE2. It has this address on
 * every chain.
 * @source github.com/Arachnid/deterministic-deployment-proxy
 */
export const create2Proxy: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/** CREATE2 salt. It differs by environment, so that contracts of a testnet have other addresses than production. */
export function deploymentSalt(environment: string): Hex {
  return keccak256Hex(utf8Bytes(`causeway contracts of ${environment}`))
}

/**
 * Address of an environment's fill contract, the same on every chain. CREATE2 derives it from the code, so no other code
 * can be deployed there.
 */
export function fillContractAddress(environment: string): Hex {
  const { creationCode } = shippedCodes.FillContract
  return create2Address(
    create2Proxy,
    hexToBytes(deploymentSalt(environment)),
    keccak256Hex(hexToBytes(creationCode)),
  )
}
