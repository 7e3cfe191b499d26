import type { Hex } from '@causeway/core'
import type { CodeSpan } from './compile.ts'
import type { DeployedName } from './renderCodes.ts'

/** Code of a public contract that is not of this release. */
export type PublicCode = {
  readonly name: DeployedName
  /** For people: which build it is. */
  readonly build: string
  /** Where it stands, lower case. */
  readonly addresses: readonly Hex[]
  /** Of its code with immutables as zeros. */
  readonly codeHash: Hex
  readonly immutables: readonly CodeSpan[]
  readonly source: string
}

const source =
  'github.com/relayprotocol/relay-depository at 490858d742d1083bc4e3c2884798f6491dc72abb, built with its own settings: CREATE2 of the public proxy, salt 1, for its documented arguments gives the address'
const immutablesFrom = (...starts: readonly number[]) => starts.map((start) => ({ start, length: 32 }))

/**
 * Public contracts whose code is known to be that of their published sources. The proof is the address: CREATE2
 * derives it from the creation code, so no chain and no explorer had to be believed.
 */
export const publicCodes: readonly PublicCode[] = [
  {
    ...{ name: 'Depository', build: 'public depository, Cancun', source },
    addresses: ['0x4cd00e387622c35bddb9b4c962c136462338bc31'],
    codeHash: '0xf3adbf307ebc9bd2fc8dccc2ba2173f4cbe60ec637587911483c120beceeb766',
    immutables: immutablesFrom(8_163, 8_259, 8_292, 8_505, 8_538),
  },
  {
    ...{ name: 'Depository', build: 'public depository, London', source },
    addresses: ['0x59916da825d2d2ec1bf878d71c88826f6633ecca'],
    codeHash: '0xa6242b345bc41fcb2216c543fe479407e05d091d84abbb5914a7628afdbc93f2',
    immutables: immutablesFrom(8_311, 8_407, 8_440, 8_654, 8_687),
  },
]
