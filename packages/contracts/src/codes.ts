// Code hashes that services compare at start; a separate module, because the rest of the package loads viem.

import { type Hex, hexToBytes, keccak256Hex, utf8Bytes } from '@causeway/core'
import { create2Address } from '@causeway/families/rules'
import { codeHashOf } from './codeHash.ts'
import { shippedCodes } from './codes.generated.ts'
import { type EarlierCode, earlierCodes } from './earlierCodes.ts'
import { publicCodes } from './publicCodes.ts'
import type { DeployedName } from './renderCodes.ts'

export { type PublicCode, publicCodes } from './publicCodes.ts'
export { type DeployedName, deployedNames } from './renderCodes.ts'

/** The code at an address: none, this release's contract or an earlier one's, a public one, or something else. */
export type CodeState = 'missing' | 'ours' | 'earlier' | 'public' | 'foreign'

/** @param code as a chain tells it @throws RangeError when it is no hex */
export function codeStateOf(name: DeployedName, code: Hex | undefined): CodeState {
  if (code === undefined || code === '0x') return 'missing'
  const { codeHash, immutables } = shippedCodes[name]
  if (codeHashOf(code, immutables) === codeHash) return 'ours'
  const isAmong = (known: readonly EarlierCode[]) =>
    known.some((one) => one.name === name && codeHashOf(code, one.immutables) === one.codeHash)
  return isAmong(earlierCodes) ? 'earlier' : isAmong(publicCodes) ? 'public' : 'foreign'
}

/** True if code is a contract of that name from this release or an earlier one, or public known code. */
export function isKnownCode(name: DeployedName, code: Hex): boolean {
  return ['ours', 'earlier', 'public'].includes(codeStateOf(name, code))
}

/**
 * True for the code of a fill contract whose `pay`, `fill` and `Paid` are those of this release, so that what it recorded is
 * proof of a payment: its own, or an earlier release's of other code.
 * @param code as a chain tells it
 */
export function recordsPayments(code: Hex): boolean {
  return ['ours', 'earlier'].includes(codeStateOf('FillContract', code))
}

/**
 * The public deterministic deployment proxy: the same address on every chain that has it.
 * @source github.com/Arachnid/deterministic-deployment-proxy
 */
export const create2Proxy: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/** Another salt in each environment, so that no address of a test is one of production. */
export function deploymentSalt(environment: string): Hex {
  return keccak256Hex(utf8Bytes(`causeway contracts of ${environment}`))
}

/** Address of an environment's fill contract, equal on every chain; CREATE2 lets no other code take it. */
export function fillContractAddress(environment: string): Hex {
  const { creationCode } = shippedCodes.FillContract
  return create2Address(
    create2Proxy,
    hexToBytes(deploymentSalt(environment)),
    keccak256Hex(hexToBytes(creationCode)),
  )
}
