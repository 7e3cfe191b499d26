import { anyCaseHex32Pattern, formatAmount, type Hex } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import type { ClaimedTransfer, TopUpClaims } from '../../money/topUps/claims.ts'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'
import { parseWallet, signatureText, walletText } from '../wire/walletText.ts'

const transferSchema = z.object({
  transactionHash: z
    .string()
    .regex(anyCaseHex32Pattern, 'must be 0x and 64 hex digits')
    .describe('Transaction that sent USDC to the top-up address'),
  logOrdinal: z
    .int()
    .min(0)
    .max(10_000)
    .optional()
    .describe('Position of the transfer among the logs of the receipt; default: the first that waits'),
  wallet: walletText.describe('Sponsorship wallet to credit'),
})

const claimErrors = {
  400: ['CLAIM_NOT_FINAL', 'SANCTIONED_WALLET_ADDRESS'],
  404: ['CLAIM_NOT_FOUND'],
  409: ['CLAIM_ALREADY_SETTLED'],
}

const usdcDecimals = 6

const challengeSchema = {
  operationId: 'prepareTopUpClaim',
  tags: ['sponsorship'],
  errors: mergeErrors(databaseErrors, claimErrors),
  summary: 'Ask for the text that claims a top-up which could not be attributed',
  body: transferSchema,
  response: {
    200: z.object({
      message: z.string().describe('Sign it with the account that the USDC came from, unchanged'),
      expiresAt: z.string(),
    }),
    ...errorResponses,
  },
}

const claimSchema = {
  operationId: 'claimTopUp',
  tags: ['sponsorship'],
  errors: mergeErrors(databaseErrors, claimErrors, { 400: ['INVALID_SIGNATURE'] }),
  summary: 'Claim a top-up by the signature of its sender',
  body: transferSchema.extend({ message: z.string().min(1).max(2_000), signature: signatureText }),
  response: {
    200: z.object({
      wallet: z.string().describe('Lower case'),
      amount: z.string().describe('Credited, USDC with 6 decimals'),
      amountFormatted: z.string(),
    }),
    ...errorResponses,
  },
}

/**
 * POST /app-balance/claims/challenge and POST /app-balance/claims: a top-up that named no wallet is credited to the wallet
 * that its sender names by signature. @source rule Q-232
 */
export function registerTopUpClaims(app: HttpApp, { claims }: { claims: TopUpClaims }): void {
  app.post('/app-balance/claims/challenge', { schema: challengeSchema }, async ({ body }) => {
    const { message, expiresAt } = await claims.prepare(toTransfer(body))
    return { message, expiresAt: expiresAt.toISOString() }
  })

  app.post('/app-balance/claims', { schema: claimSchema }, async ({ body }) => {
    const { message, signature } = body
    const transfer = toTransfer(body)
    const { amountMicroUsd } = await claims.settle(transfer, { message, signature })
    return {
      wallet: transfer.wallet,
      amount: amountMicroUsd.toString(),
      amountFormatted: formatAmount(amountMicroUsd, usdcDecimals),
    }
  })
}

function toTransfer(body: z.infer<typeof transferSchema>): ClaimedTransfer {
  return {
    // CAST: the schema has checked that it is hex.
    transactionHash: body.transactionHash.toLowerCase() as Hex,
    ordinal: body.logOrdinal,
    wallet: parseWallet(body.wallet),
  }
}
