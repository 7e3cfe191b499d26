import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { reachedBy } from '@causeway/rpc'
import { askPaymentVotes, readByVoice } from '../../shared/paymentVotes.ts'
import { parseSeconds, statusCall } from '../quoting/calls.ts'
import { type LighterSigner, openLighterSigner, type SignerKey } from './lighterSigner.ts'

/** Validity of the token that proves the wallet's account to endpoints. */
const tokenSeconds = 600

/** The highest number that enough endpoints have reached, once all have answered. @throws UpstreamUnavailableError */
export function askReached(
  client: ChainClient,
  call: RpcCall,
  read: (answer: RpcAnswer | undefined) => bigint,
): Promise<bigint> {
  return askPaymentVotes(client, [call], (votes, { threshold }, isLast) => {
    const values = readByVoice(votes, ([answer]) => read(answer))
    const reached = isLast ? reachedBy(threshold, values) : -1n
    return reached < 0n ? undefined : reached
  })
}

/** The exchange's time, and a signer whose clock it is: this machine's clock decides nothing. */
export class ExchangeClock {
  readonly #client: ChainClient
  readonly #signerKey: SignerKey
  #opening: Promise<LighterSigner> | undefined
  /** The exchange's time when the signer was asked for last. */
  #exchangeMs = 0

  constructor(client: ChainClient, signerKey: SignerKey) {
    this.#client = client
    this.#signerKey = signerKey
  }

  readSeconds(): Promise<bigint> {
    return askReached(this.#client, statusCall, parseSeconds)
  }

  /** The signer, opened at the first call, with its clock set to the exchange's time. */
  async openSigner(): Promise<LighterSigner> {
    this.#exchangeMs = 1_000 * Number(await this.readSeconds())
    this.#opening ??= openLighterSigner({ ...this.#signerKey, nowMs: () => this.#exchangeMs })
    return this.#opening
  }

  async createToken(): Promise<string> {
    const signer = await this.openSigner()
    return signer.createToken(this.#exchangeMs / 1_000 + tokenSeconds)
  }
}
