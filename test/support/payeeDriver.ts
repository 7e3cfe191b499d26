// Payments of the shipped solver to the accounts that quotes name, and what the oracles sign of them.
import type { Hex, SqlDatabase } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { z } from 'zod'
import type { OracleTrio } from '../../apps/oracle/test/support/oracleTrio.ts'
import { ask } from '../../apps/oracle/test/support/ownerWithdrawals.ts'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import { type ClaimTypedData, readClaimStep } from '../../apps/quote-api/test/serviceSupport/appFeeClaim.ts'
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
const patient = { patienceMs: 240_000, pollMs: 200 }
const ordersSchema = z.object({
  requests: z.tuple([
    z.object({
      protocol: z.object({
        v2: z.object({ orderData: z.looseObject({}), orderSignature: z.string() }),
      }),
      data: z.object({
        inTxs: z.tuple([z.object({ txHash: z.string() })]),
        outTxs: z.array(z.object({ txHash: z.string() })),
      }),
    }),
  ]),
})
const claimsSchema = z.object({ claims: z.array(z.looseObject({ status: z.string() })) })

/** Owns app fees: a key, or code that says what its owner lets it say. */
export type FeeOwner = {
  readonly address: Hex
  signTypedData(typedData: ClaimTypedData): Promise<Hex>
}

export type PayeeDriver = ReturnType<typeof createPayeeDriver>

/** @param oracle asks peers for their signatures */
export function createPayeeDriver(at: {
  readonly oracle: Pick<OracleTrio, 'post'>
  readonly url: string
  readonly database: Pick<SqlDatabase, 'query' | 'transaction'>
  readonly requests: RequestDriver
}) {
  let last: Promise<unknown> = Promise.resolve()
  async function reaches(quote: QuoteAnswer, status: string, stage: string): Promise<void> {
    const circumstances = async () =>
      JSON.stringify([await at.requests.statusOf(quote), await at.requests.settlementOf(quote)])
    const isSo = async () =>
      (await at.requests.statusOf(quote)).status === status && (await at.requests.stageOf(quote)) === stage
    await waitUntil(`it is ${status} and ${stage}`, isSo, { ...patient, circumstances })
  }
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

    /** It is filled, and the oracles signed that. */
    async fills(quote: QuoteAnswer): Promise<void> {
      await reaches(quote, 'success', 'settled')
    },

    /** It is given back, and the oracles sign that. Until its quote expires, another deposit may still come. */
    async refunds(quote: QuoteAnswer, chainId: string): Promise<void> {
      await at.requests.workBegins(quote, 'refund')
      await at.database.query(
        `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
        [bytesOf(quote.requestId)],
      )
      await reaches(quote, 'refund', 'refunded')
      const response = await send(`${at.url}/requests/v3?id=${quote.requestId}&includeOrderData=true`)
      const [{ protocol, data }] = readOk(response, ordersSchema).requests
      const { orderData: order, orderSignature } = protocol.v2
      const [{ txHash: transactionId }] = data.inTxs
      const [refund] = data.outTxs
      let answer: unknown
      const isSigned = async () => {
        const deposits = await ask(at.oracle, 'depository-deposits/v1', { chainId, transactionId })
        const onchainId = deposits.body.messages?.[0].result.onchainId
        const attested = await ask(at.oracle, 'solver-refunds/v1', {
          order,
          orderSignature,
          inputs: [{ transactionId, onchainId, inputIndex: 0 }],
          refunds: [{ transactionId: refund?.txHash, inputIndex: 0, refundIndex: 0 }],
        })
        answer = attested.body
        return attested.status === 200
      }
      const circumstances = async () => JSON.stringify([answer, data])
      await waitUntil('its refund is attested', isSigned, { ...patient, circumstances })
    },

    /** The fees of a wallet are paid to a recipient, as its chain's endpoints agree. */
    async claims(asset: Omit<LedgerAsset, 'name'>, amount: bigint, recipient: string): Promise<void> {
      const account = privateKeyToAccount(generatePrivateKey())
      const fees = [{ recipient: account.address.toLowerCase(), amount }]
      const owed = { requestId: generatePrivateKey(), asset: { ...asset, name: asset.symbol }, fees }
      await at.database.transaction((tx) => accrueAppFees(tx, owed))
      await this.claimsOf(account, { chainId: asset.chainId, currency: asset.address, recipient })
    },

    /** The amount owed to an account in a currency is paid to a recipient, as its chain's endpoints agree. */
    async claimsOf(
      account: FeeOwner,
      asked: { readonly chainId: number; readonly currency: string; readonly recipient: string },
    ): Promise<void> {
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
