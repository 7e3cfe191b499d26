import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { bytesToHex, type Hex, type Secret, type Signer, signingDigest } from '@causeway/core'
import secp256k1 from 'secp256k1'
import { SignerFailedError } from './errors.ts'
import { privateKeyBytes } from './privateKey.ts'
import { addressOf } from './recoverSigner.ts'

export type ThreadedSigner = Signer & {
  /** Ends the thread after what it was asked before. */
  close(): Promise<void>
}

type Waiting = { readonly digest: Uint8Array; resolve(signature: Hex): void; reject(error: Error): void }

const digestBytes = 32
const signatureBytes = 65
/** So many leave at once; the thread works on them while the rest of a burst is prepared. */
const groupSize = 8

/**
 * The raw key signer on a thread of its own: signing and checking a signature take longer than all the
 * rest of a quote, and would hold up every other request. Digests leave in groups; those too few for one
 * wait until the thread is idle. A thread that dies fails what it was asked and is replaced.
 * @param options.privateKey from `parsePrivateKey`
 */
export function createThreadedSigner(options: { privateKey: Secret }): ThreadedSigner {
  const key = privateKeyBytes(options.privateKey)
  const address = addressOf(secp256k1.publicKeyCreate(key, false))
  let worker: Worker | undefined
  let waiting: Waiting[] = []
  /** Groups that the thread has, in the order in which it answers. */
  let sent: Waiting[][] = []
  let isScheduled = false
  let isClosed = false

  function start(): Worker {
    const started = new Worker(new URL('./signWorker.js', import.meta.url), {
      workerData: { privateKey: key },
      execArgv: [],
    })
    started.unref()
    started.on('message', receive)
    started.on('error', () => lose(started))
    started.on('exit', () => lose(started))
    return started
  }

  function lose(lost: Worker): void {
    if (worker !== lost) return
    worker = undefined
    const failed = [...sent.flat(), ...waiting]
    sent = []
    waiting = []
    for (const { reject } of failed) reject(new SignerFailedError())
  }

  function schedule(): void {
    if (waiting.length >= groupSize) send()
    if (isScheduled || sent.length > 0 || waiting.length === 0) return
    isScheduled = true
    // Requests of one turn of the event loop leave together.
    setImmediate(sendRest)
  }

  function sendRest(): void {
    isScheduled = false
    if (sent.length === 0 && waiting.length > 0) send()
  }

  function send(): void {
    const group = waiting
    waiting = []
    sent.push(group)
    const digests = new Uint8Array(group.length * digestBytes)
    for (const [index, { digest }] of group.entries()) digests.set(digest, index * digestBytes)
    worker ??= start()
    worker.postMessage(digests, [digests.buffer])
  }

  function receive(signatures: Uint8Array): void {
    const answered = sent.shift() ?? []
    schedule()
    for (const [index, { resolve, reject }] of answered.entries()) {
      const signature = signatures.subarray(index * signatureBytes, (index + 1) * signatureBytes)
      if (signature[signatureBytes - 1] === 0) reject(new SignerFailedError())
      else resolve(bytesToHex(signature))
    }
  }

  return {
    address,
    sign(request) {
      if (isClosed) return Promise.reject(new SignerFailedError())
      const digest = signingDigest(request)
      return new Promise((resolve, reject) => {
        waiting.push({ digest, resolve, reject })
        schedule()
      })
    },
    async close() {
      isClosed = true
      if (worker === undefined) return
      if (waiting.length > 0) send()
      const ended = once(worker, 'exit')
      // Not `terminate`, which would stop the thread in the middle of native code.
      worker.postMessage('close')
      await ended
    },
  }
}
