// Goal: every sentence of the quote document is true of the running service, also at its edges. Method: one `describe`
// per heading of the document, in its order; the service is a process, asked over HTTP, over real chains.
import { afterAll, beforeAll, describe } from 'vitest'
import { describeBalances, describeDeposit, describeHistory } from './quoteAndSponsorship/balance.ts'
import { describeLimits } from './quoteAndSponsorship/limits.ts'
import { describeDetails, describeFees } from './quoteAndSponsorship/priceAnswer.ts'
import { describePriceEndpoint } from './quoteAndSponsorship/priceEndpoint.ts'
import { describeQuoteEndpoint } from './quoteAndSponsorship/quoteEndpoint.ts'
import {
  describeBalanceRecord,
  describeCurrencyAmount,
  describeErrorBody,
} from './quoteAndSponsorship/resources.ts'
import {
  describeAuthentication,
  describeErrors,
  describeEvents,
  describeStates,
  describeVersioning,
} from './quoteAndSponsorship/rules.ts'
import { describeService } from './quoteAndSponsorship/service.ts'
import { describeSolana } from './quoteAndSponsorship/solana.ts'
import { type FilledRequest, fillRequest } from './support/filledRequest.ts'
import { newSponsor, type Sponsor, settled } from './support/quoteRequests.ts'
import { type QuoteWorld, startQuoteWorld } from './support/quoteWorld.ts'

/** As long as all of it takes on a busy machine. */
const startMs = 300_000
let world: QuoteWorld | undefined
let sponsor: Sponsor | undefined
let filled: FilledRequest | undefined
beforeAll(async () => {
  world = await startQuoteWorld()
  sponsor = await newSponsor(world, 1_000_000_000n)
  filled = await fillRequest(world, sponsor)
  await settled(world)
}, startMs)
afterAll(() => world?.stop())

function opened<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Error('the service did not start')
  return part
}
const at = () => opened(world)
const payer = () => opened(sponsor)
const request = () => opened(filled)

describe('What the service does', () => describeService(at, payer))

describe('Resources and their fields', () => {
  describe('CurrencyAmount', () => describeCurrencyAmount(at, payer))
  describe('Price response: fees object', () => describeFees(at, payer))
  describe('Price response: details object', () => describeDetails(at))
  describe('Application balance record', () => describeBalanceRecord(at, payer))
  describe('Error body', () => describeErrorBody(at))
})

describe('States and transitions', () => describeStates(at))

describe('Endpoints', () => {
  describe('POST {base_url}/price (deprecated)', () => describePriceEndpoint(at))
  describe('POST {base_url}/quote', () => describeQuoteEndpoint(at, payer))
  describe('GET {base_url}/app-fees/{wallet_address}/balances', () => describeBalances(at, request))
  describe('Request history', () => describeHistory(at, payer, request))
  describe('Direct on-chain deposit to the application balance', () => describeDeposit(at))
})

describe('Authentication', () => describeAuthentication(at, payer))

describe('Events', () => describeEvents(at))

describe('Errors', () => describeErrors(at, payer))

describe('Limits', () => describeLimits(at, payer, request))

describe('Solana rules', () => describeSolana(at, payer))

describe('Versioning', () => describeVersioning(at))
