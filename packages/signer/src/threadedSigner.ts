import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { bytesToHex, type Hex, type Secret, type Signer, type SigningRequest } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import secp256k1 from 'secp256k1'
import { SignerFailedError } from './errors.ts'
import { privateKeyBytes } from './privateKey.ts'
import { addressOf } from './recoverSigner.ts'

export type ThreadedSigner = Signer & {
  /** Ends the thread after it has signed all earlier requests; later ones fail. */
  close(): Promise<void>
}

/** A requested signature, and its caller's promise. */
type PendingSignature = {
  readonly digest: Uint8Array
  resolve(signature: Hex): void
  reject(error: Error): void
}

const digestBytes = 32
const signatureBytes = 65
/** So many digests are sent at once; the thread signs them while more of a burst are prepared. */
const groupSize = 8

/**
 * The raw key signer on a thread of its own: signing and checking a signature take longer than all other work on a
 * quote, and would delay every other request. Digests are sent in groups; fewer than a group wait until the thread is
 * idle. When the thread dies, its pending requests fail, and the next request starts another one.
 * @param options.privateKey from `parsePrivateKey`
 */
export function createThreadedSigner(options: { privateKey: Secret }): ThreadedSigner {
  const key = privateKeyBytes(options.privateKey)
  const thread = new SigningThread(key)
  return {
    address: addressOf(secp256k1.publicKeyCreate(key, false)),
    sign: (request) => thread.sign(request),
    close: () => thread.close(),
  }
}

class SigningThread {
  readonly #key: Uint8Array
  #worker: Worker | undefined
  #waiting: PendingSignature[] = []
  /** Groups that the thread has not answered yet, in the order of its answers. */
  #sent: PendingSignature[][] = []
  #isScheduled = false
  #isClosed = false

  constructor(key: Uint8Array) {
    this.#key = key
  }

  sign(request: SigningRequest): Promise<Hex> {
    if (this.#isClosed) return Promise.reject(new SignerFailedError())
    const digest = signingDigest(request)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ digest, resolve, reject })
      this.#schedule()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#waiting.length > 0) this.#send()
    if (this.#worker === undefined) return
    const ended = once(this.#worker, 'exit')
    // Not `terminate`, which would stop the thread in the middle of native code.
    this.#worker.postMessage('close')
    await ended
  }

  #start(): Worker {
    const started = new Worker(new URL('./signWorker.js', import.meta.url), {
      workerData: { privateKey: this.#key },
      // The thread takes over no Node options of the process, such as its loader.
      execArgv: [],
    })
    started.unref()
    started.on('message', (signatures: Uint8Array) => this.#receive(signatures))
    started.on('error', () => this.#lose(started))
    started.on('exit', () => this.#lose(started))
    return started
  }

  #lose(lost: Worker): void {
    if (this.#worker !== lost) return
    this.#worker = undefined
    const failed = [...this.#sent.flat(), ...this.#waiting]
    this.#sent = []
    this.#waiting = []
    for (const { reject } of failed) reject(new SignerFailedError())
  }

  #schedule(): void {
    if (this.#waiting.length >= groupSize) this.#send()
    if (this.#isScheduled || this.#sent.length > 0 || this.#waiting.length === 0) return
    this.#isScheduled = true
    // Requests of one turn of the event loop leave together.
    setImmediate(() => this.#sendWaiting())
  }

  #sendWaiting(): void {
    this.#isScheduled = false
    if (this.#sent.length === 0 && this.#waiting.length > 0) this.#send()
  }

  #send(): void {
    const group = this.#waiting
    this.#waiting = []
    this.#sent.push(group)
    const digests = new Uint8Array(group.length * digestBytes)
    for (const [index, { digest }] of group.entries()) digests.set(digest, index * digestBytes)
    this.#worker ??= this.#start()
    this.#worker.postMessage(digests, [digests.buffer])
  }

  #receive(signatures: Uint8Array): void {
    const answered = this.#sent.shift() ?? []
    this.#schedule()
    for (const [index, { resolve, reject }] of answered.entries()) {
      const signature = signatures.subarray(index * signatureBytes, (index + 1) * signatureBytes)
      // A signature that does not recover to the key comes as zeros.
      if (signature[signatureBytes - 1] === 0) reject(new SignerFailedError())
      else resolve(bytesToHex(signature))
    }
  }
}
