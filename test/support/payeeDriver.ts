// Whom a quote names is paid by the shipped solver, and what the oracles sign of that.
import type { SqlDatabase } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { z } from 'zod'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import { readClaimStep } from '../../apps/quote-api/test/serviceSupport/appFeeClaim.ts'
import {
  type Answer,
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
  send,
} from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { bytesOf, type RequestDriver } from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { accrueAppFees, type LedgerAsset } from '../../packages/ledger/src/index.ts'

/** Only ends a test that would hang. */
export const longTest = 300_000
const patient = { patienceMs: longTest, pollMs: 200 }
const claimsSchema = z.object({ claims: z.array(z.looseObject({ status: z.string() })) })

export type PayeeDriver = ReturnType<typeof createPayeeDriver>

export function createPayeeDriver(at: {
  readonly url: string
  readonly database: Pick<SqlDatabase, 'query' | 'transaction'>
  readonly requests: RequestDriver
}) {
  let last: Promise<unknown> = Promise.resolve()
  return {
    /** One transaction after the other of whoever funds users of a family. */
    inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
      const mine = last.then(work)
      last = mine.catch(() => {})
      return mine
    },

    async quoteOf(body: object): Promise<QuoteAnswer> {
      return readOk(await postPatiently(`${at.url}/quote`, body), quoteResponseSchema)
    },

    /** It is paid, and the oracles signed that. */
    async ends(quote: QuoteAnswer, status: 'success' | 'refund'): Promise<void> {
      const circumstances = async () =>
        JSON.stringify([await at.requests.statusOf(quote), await at.requests.settlementOf(quote)])
      const isSo = async () =>
        (await at.requests.statusOf(quote)).status === status &&
        (await at.requests.stageOf(quote)) === 'settled'
      await waitUntil(`it is ${status} and attested`, isSo, { ...patient, circumstances })
    },

    /** Until its quote expires, another deposit may still come. */
    async refunds(quote: QuoteAnswer): Promise<void> {
      await at.requests.workFor(quote, 'refund')
      await at.database.query(
        `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
        [bytesOf(quote.requestId)],
      )
      await this.ends(quote, 'refund')
    },

    /** What a wallet is owed is paid to a recipient, as its chain's endpoints agree. */
    async claims(asset: Omit<LedgerAsset, 'name'>, amount: bigint, recipient: string): Promise<void> {
      const account = privateKeyToAccount(generatePrivateKey())
      const fees = [{ recipient: account.address.toLowerCase(), amount }]
      const owed = { requestId: generatePrivateKey(), asset: { ...asset, name: asset.symbol }, fees }
      await at.database.transaction((tx) => accrueAppFees(tx, owed))
      const asked = { chainId: asset.chainId, currency: asset.address, recipient }
      const url = `${at.url}/app-fees/${account.address}`
      const { claimId, typedData } = readClaimStep(await postPatiently(`${url}/claim`, asked))
      const signature = await account.signTypedData(typedData)
      const body = { kind: 'claim', requestId: claimId }
      expect((await post(`${at.url}/execute/permits?signature=${signature}`, body)).status).toBe(200)
      const isPaid = async () =>
        readOk(await send(`${url}/claims`), claimsSchema).claims[0]?.status === 'paid'
      await waitUntil('the claim is paid', isPaid, patient)
    },

    /** The answer becomes a refusal as soon as the service has seen the block that says so. */
    async refused(member: string, body: object): Promise<void> {
      let answer: Answer | undefined
      await waitUntil('it is refused', async () => {
        answer = await postPatiently(`${at.url}/quote`, body)
        return answer.status === 400
      })
      expect(answer && readError(answer)).toMatchObject({
        errorCode: expect.stringMatching(/^(INVALID_RECIPIENT|RECIPIENT_HAS_CODE|INVALID_ADDRESS)$/),
        message: expect.stringMatching(new RegExp(`^${member} `)),
      })
    },
  }
}
