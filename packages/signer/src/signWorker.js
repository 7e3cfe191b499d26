// The thread of `threadedSigner.ts`: signs digests off the event loop of the service. Plain JavaScript, because in
// development a worker starts without the loader that translates TypeScript.
import { parentPort, workerData } from 'node:worker_threads'
import secp256k1 from 'secp256k1'

const digestBytes = 32
const signatureBytes = 65
/** @type {Uint8Array} */
const key = workerData.privateKey
const publicKey = secp256k1.publicKeyCreate(key, false)

/**
 * A message holds any number of digests, one behind the other; the answer holds as many signatures r‖s‖v in that
 * order. A signature that does not recover to the key is left zero. The message `close` ends the thread.
 */
parentPort?.on('message', (/** @type {Uint8Array | 'close'} */ digests) => {
  if (digests === 'close') return parentPort?.close()
  const count = digests.length / digestBytes
  const signatures = new Uint8Array(count * signatureBytes)
  for (let index = 0; index < count; index += 1) {
    const digest = digests.subarray(index * digestBytes, (index + 1) * digestBytes)
    const { signature, recid } = secp256k1.ecdsaSign(digest, key)
    const recovered = secp256k1.ecdsaRecover(signature, recid, digest, false)
    if (Buffer.compare(recovered, publicKey) !== 0) continue
    signatures.set(signature, index * signatureBytes)
    signatures[(index + 1) * signatureBytes - 1] = 27 + recid
  }
  parentPort?.postMessage(signatures, [signatures.buffer])
})
