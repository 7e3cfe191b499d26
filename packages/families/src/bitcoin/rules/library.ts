import { createRequire } from 'node:module'
import type * as Curves from '@noble/curves/secp256k1.js'
import type * as BitcoinJs from 'bitcoinjs-lib'
import type * as BufferUtils from 'bitcoinjs-lib/src/bufferutils'

type BitcoinLibrary = typeof BitcoinJs & Pick<typeof BufferUtils, 'BufferReader' | 'varuint'>

let loaded: BitcoinLibrary | undefined

/**
 * bitcoinjs-lib, loaded when it is first called, so that a service that reads nothing of Bitcoin never loads it:
 * it takes a tenth of a second and 15 MiB. Rules are synchronous, and so is this. See decision 15.
 */
export function bitcoinLibrary(): BitcoinLibrary {
  if (loaded !== undefined) return loaded
  const load = createRequire(import.meta.url)
  const library: typeof BitcoinJs = load('bitcoinjs-lib')
  const { BufferReader, varuint }: typeof BufferUtils = load('bitcoinjs-lib/src/bufferutils')
  loaded = { ...library, BufferReader, varuint }
  return loaded
}

let loadedCurve: (typeof Curves)['secp256k1'] | undefined

/** Curve library, loaded at its first use, so that services without keys do not pay for it. */
export function bitcoinCurve(): (typeof Curves)['secp256k1'] {
  if (loadedCurve === undefined) {
    const curves: typeof Curves = createRequire(import.meta.url)('@noble/curves/secp256k1.js')
    loadedCurve = curves.secp256k1
  }
  return loadedCurve
}

/** Result of a library call; `undefined` if the library throws, since it has no error class of its own for that. */
export function unlessRefused<Value>(use: (library: BitcoinLibrary) => Value): Value | undefined {
  const library = bitcoinLibrary()
  try {
    return use(library)
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

/** A plain view of the bytes. The library keeps slices of its input, and slices of a `Buffer` would be `Buffer`s. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}
