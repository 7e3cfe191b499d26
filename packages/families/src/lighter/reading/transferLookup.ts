import type { HttpView, QuorumClient } from '@causeway/rpc'
import { answersTo, MalformedAnswerError, parseList, parseRecord } from '@causeway/rpc'

/**
 * Ids of transactions that may have paid out: hints, which every endpoint of the quorum checks against the
 * transfer itself. Empty when nobody can say. Never rejects for what an explorer does.
 */
export type FindTransfers = (
  route: { readonly payer: string; readonly recipient: string },
  signal: AbortSignal,
) => Promise<readonly string[]>

export const noTransferLookup: FindTransfers = async () => []

export const pageSize = 100
const pages = [0, 1, 2]
/** Each takes a reading of its own at every endpoint. */
const candidatesMax = 50

/** Asks explorers for the payer's last transfers. @source rule F-161 */
export function createTransferLookup(explorers: Pick<QuorumClient<HttpView>, 'askEach'>): FindTransfers {
  return async ({ payer, recipient }, signal) => {
    const each = await explorers.askEach(async (view, own) => {
      const read = pages.map((page) => readLoggedTransfers(view, { account: payer, page }, own))
      return (await Promise.all(read)).flat()
    }, signal)
    const ids = each.flatMap(({ said = [] }) =>
      said.flatMap((transfer) =>
        transfer.from === payer && transfer.to === recipient ? [transfer.transactionId] : [],
      ),
    )
    return [...new Set(ids)].slice(0, candidatesMax)
  }
}

const logsOf = (account: string, { limit, offset }: { readonly limit: number; readonly offset: number }) =>
  `/accounts/${account}/logs?pub_data_type=L2Transfer%2CL2TransferV2&limit=${limit}&offset=${offset}`

export const explorerHeadTracking = answersTo({ method: logsOf('0', { limit: 1, offset: 0 }), params: [] })

export type LoggedTransfer = {
  readonly transactionId: string
  readonly from: unknown
  readonly to: unknown
}

/**
 * A page of an explorer's list of the transfers of an account, the newest first; what is none is left out.
 * @throws EndpointFailure, MalformedAnswerError
 */
export async function readLoggedTransfers(
  view: HttpView,
  { account, page }: { readonly account: string; readonly page: number },
  signal: AbortSignal,
): Promise<readonly LoggedTransfer[]> {
  const path = logsOf(account, { limit: pageSize, offset: page * pageSize })
  const { text } = await view.ask({ method: 'GET', path }, signal)
  const requestName = 'logs'
  return parseList(parseJson(text, requestName), requestName).flatMap((log) => {
    const { hash, pubdata } = parseRecord(log, requestName)
    if (typeof hash !== 'string' || !/^(?:[0-9a-fA-F]{2}){1,128}$/.test(hash)) return []
    if (pubdata === undefined || pubdata === null) return []
    const data = parseRecord(pubdata, requestName)
    const transfer = data['l2_transfer_pubdata_v2'] ?? data['l2_transfer_pubdata']
    if (transfer === undefined) return []
    const { from_account_index: from, to_account_index: to } = parseRecord(transfer, requestName)
    return [{ transactionId: hash.toLowerCase(), from, to }]
  })
}

function parseJson(text: string, subject: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new MalformedAnswerError(subject)
  }
}
