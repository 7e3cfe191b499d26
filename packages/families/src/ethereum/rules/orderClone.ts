import type { Hex } from '@causeway/core'
import {
  AbiWords,
  abiAddress,
  abiBytes,
  abiUint,
  concatBytes,
  encodeAbiArray,
  encodeAbiTuple,
  fixedHexToBytes,
  hexToBytes,
  keccak256,
  keccak256Hex,
} from '@causeway/core'
import { create2Address, firstCreatedAddress } from './contractAddress.ts'

/** Terms from which the address of an order's clone is derived; another value of any member gives another address. */
export type OrderCloneTerms = {
  readonly fillContract: Hex
  /** Account that fills; the calls of another filler run at another address. */
  readonly filler: Hex
  /** Salt of the order, 32 bytes. */
  readonly orderSalt: Hex
  /** Gets what the calls leave over. */
  readonly recipient: Hex
  readonly calls: readonly { readonly to: Hex; readonly data: Hex; readonly value: bigint }[]
}

/** EIP-1167 minimal proxy: its creation and runtime code around the implementation's address. */
const proxyStart = hexToBytes('0x3d602d80600a3d3981f3363d3d373d3d3d363d73')
const proxyEnd = hexToBytes('0x5af43d82803e903d91602b57fd5bf3')

/**
 * Address of an order's clone, in lower case, equal to the fill contract's own `cloneOf`. The clone receives the
 * order's output and runs its calls; it has code only during that transaction.
 * @throws RangeError on a member of another length
 * @source rule L-32; EIP-1014, EIP-1167
 */
export function orderCloneAddress({
  fillContract,
  filler,
  orderSalt,
  recipient,
  calls,
}: OrderCloneTerms): Hex {
  const encodedList = encodeAbiArray(
    calls.map(({ to, data, value }) =>
      encodeAbiTuple([abiAddress(to), abiBytes(hexToBytes(data)), abiUint(value)]),
    ),
  )
  // As Solidity's `abi.encode(calls)`: one argument, whose data stand behind its offset.
  const encodedCalls = encodeAbiTuple([{ tail: encodedList }])
  const salt = new AbiWords(4)
    .address(fixedHexToBytes(filler, 20))
    .word(fixedHexToBytes(orderSalt, 32))
    .address(fixedHexToBytes(recipient, 20))
    .word(keccak256(encodedCalls))
    .done()
  // The clones delegate to the first contract that the fill contract created.
  const implementation = fixedHexToBytes(firstCreatedAddress(fillContract), 20)
  const code = concatBytes([proxyStart, implementation, proxyEnd])
  return create2Address(fillContract, keccak256(salt), keccak256Hex(code))
}
