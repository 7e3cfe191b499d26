import { createRequire } from 'node:module'
import { z } from 'zod'

type Curve = {
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(signature: Uint8Array, recid: number, digest: Uint8Array, compressed: boolean): Uint8Array
}

const library = z.custom<Curve>(
  (value) => typeof value === 'object' && value !== null && 'ecdsaSign' in value && 'ecdsaRecover' in value,
)

/**
 * Signs and recovers on libsecp256k1 with nothing around it. The library is a dependency of the signer
 * alone, so it is loaded from there: the bench measures the same copy.
 */
export function bareCurve(key: Uint8Array) {
  const load = createRequire(new URL('../packages/signer/package.json', import.meta.url))
  const curve = library.parse(load('secp256k1'))
  return {
    signAndRecover(digest: Uint8Array): void {
      const { signature, recid } = curve.ecdsaSign(digest, key)
      curve.ecdsaRecover(signature, recid, digest, false)
    },
  }
}
