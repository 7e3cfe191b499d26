import type { OpenApiOptions, OperationExamples, RouteErrors } from '@causeway/http'
import { z } from 'zod'
import { databaseErrors, mergeErrors } from '../routeErrors.ts'

/** `operationId` of the route that does what a command does: `keys create` is `keysCreate`. */
export function operationIdOf(command: string): string {
  return command.replace(/[ -]([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

/** OpenAPI details of an admin route: its command, summary and errors. */
export function adminOperation(command: string, summary: string, errors: RouteErrors = {}) {
  const [group = command] = command.split(' ')
  return {
    operationId: operationIdOf(command),
    tags: [group],
    summary,
    errors: mergeErrors(databaseErrors, errors),
  }
}

/** A block, an id or another number in a path, query or body. 18 digits always fit a `bigint` column. */
export const integerText = z
  .string()
  .regex(/^[0-9]{1,18}$/, 'must be 1 to 18 digits')
  .transform(BigInt)

/** Errors of routes that name an API key, and of those whose key must not be revoked. */
export const keyErrors: RouteErrors = { 404: ['API_KEY_NOT_FOUND'] }
export const usableKeyErrors: RouteErrors = mergeErrors(keyErrors, { 409: ['API_KEY_REVOKED'] })

const account = '0x95dbe89c9cdaaf16e2ba8eb9422fc3e65af384f7'
const id32 = (digits: string) => `0x${digits.repeat(32)}`
const key = { params: { id: 'aaaaaaaaaa' } }
const request = { params: { id: id32('4d') } }
const reason = 'Looked at it with the solver'
const wallet = { params: { wallet: account } }
const page = { query: { limit: 20 } }

/** One request per operation. Accounts and ids are made up; real ones are in lists, such as `keys list`. */
const examples: OperationExamples = {
  auditList: { query: { actor: 'admin', limit: 20 } },
  keysCreate: { body: { label: 'shop' } },
  keysRotate: { ...key, body: { overlapSeconds: 3_600 } },
  keysRevoke: { ...key, body: {} },
  walletsUnlink: { ...key, body: {} },
  policiesSet: { ...key, body: { rules: { maxPerRequest: '250000' } } },
  policiesShow: key,
  policiesRemove: { ...key, body: {} },
  policiesExplain: {
    ...key,
    body: {
      user: account,
      recipient: account,
      originChainId: 8_453,
      destinationChainId: 10,
      amountMicroUsd: '50000',
    },
  },
  webhooksSet: { ...key, body: { url: 'https://shop.example/hook' } },
  webhooksShow: key,
  webhooksRotateSecret: { ...key, body: {} },
  webhooksRemove: { ...key, body: {} },
  webhooksReplay: { ...key, body: {} },
  balanceShow: wallet,
  statementsShow: { ...wallet, query: { month: '2026-10', groupBy: 'day,user' } },
  sponsorFreeze: { ...wallet, body: { reason } },
  sponsorUnfreeze: { ...wallet, body: { reason } },
  ledgerExport: page,
  ledgerResume: { body: { reason } },
  topupFind: { params: { chainId: '8453', transactionHash: id32('c1') } },
  topupCalldata: { query: { amountMicroUsd: '25000000', wallet: account } },
  topupReverse: { params: { id: '1' }, body: { reason } },
  topupResume: { params: { chainId: '8453' }, body: { block: '1200', hash: id32('b4'), reason } },
  suspenseList: page,
  suspenseCredit: { params: { id: '1' }, body: { wallet: account, reason } },
  why: request,
  requestsParked: page,
  requestsFind: { query: { named: id32('c1') } },
  requestsExplain: request,
  requestsRetry: { ...request, body: { reason } },
  requestsResolve: { ...request, body: { resolution: 'refund', reason } },
  claimsPending: page,
  stop: { params: { chain: 'base' }, body: { reason } },
  go: { params: { chain: 'base' }, body: { reason } },
  claimsEnd: { ...request, body: { ending: 'failed', reason } },
}

/** OpenAPI description of the admin listener as a whole; its routes add their own. */
export const adminDescription: Omit<OpenApiOptions, 'servers'> = {
  title: 'Causeway quote API, for operators',
  description:
    'What the command line does, by the same functions. Every change leaves a line of the audit with its reason. `operationId` is the command: `keysCreate` is `keys create`. This page may be read without the key; every request needs it in `x-api-key` (ADMIN_API_KEY), in `local` on loopback none.',
  examples,
}
