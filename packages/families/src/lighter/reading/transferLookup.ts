import type { HttpView, QuorumClient } from '@causeway/rpc'
import { answersTo, MalformedAnswerError, parseList, parseRecord } from '@causeway/rpc'

/**
 * Finds ids of transactions that may have executed a withdrawal. They are hints: every endpoint of the quorum checks
 * the transfer itself. Empty if no explorer answers. Never rejects because of an explorer.
 */
export type FindTransfers = (
  route: { readonly payer: string; readonly recipient: string },
  signal: AbortSignal,
) => Promise<readonly string[]>

export const noTransferLookup: FindTransfers = async () => []

export const pageSize = 100
/** Pages that are looked through for a withdrawal. */
const pages = [0, 1, 2]
/** Limit of ids, because each takes a reading at every endpoint. */
const candidatesMax = 50

/** Asks explorers for the payer's last transfers. @source rule F-161 */
export function createTransferLookup(explorers: Pick<QuorumClient<HttpView>, 'askEach'>): FindTransfers {
  return async ({ payer, recipient }, signal) => {
    const answers = await explorers.askEach(async (view, viewSignal) => {
      const lists = pages.map((page) => readLoggedTransfers(view, { account: payer, page }, viewSignal))
      return (await Promise.all(lists)).flat()
    }, signal)
    const ids = answers.flatMap(({ said = [] }) =>
      said.flatMap((transfer) =>
        transfer.from === payer && transfer.to === recipient ? [transfer.transactionId] : [],
      ),
    )
    return [...new Set(ids)].slice(0, candidatesMax)
  }
}

const logsOf = (account: string, { limit, offset }: { readonly limit: number; readonly offset: number }) =>
  `/accounts/${account}/logs?pub_data_type=L2Transfer%2CL2TransferV2&limit=${limit}&offset=${offset}`

/** Any answer shows that an explorer is alive. The account does not matter. */
export const explorerHeadTracking = answersTo({ method: logsOf('0', { limit: 1, offset: 0 }), params: [] })

/** A transfer as an explorer lists it. `from` and `to`: account indices in digits, unchecked. */
export type LoggedTransfer = {
  readonly transactionId: string
  readonly from: unknown
  readonly to: unknown
}

/**
 * A page of an explorer's list of an account's transfers, the newest first. Entries that are no transfer are left out.
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
