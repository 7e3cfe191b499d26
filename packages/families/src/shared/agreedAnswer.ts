import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'
import { unlessUnreadable } from '@causeway/rpc'

type Read<Said> = (answer: RpcAnswer | undefined) => Said

/**
 * Answer that enough endpoints share, as `read` parses it: members that `read` leaves out may differ.
 * @throws UpstreamUnavailableError, MalformedAnswerError, and what `read` throws of the answer agreed on
 */
export async function agreedAnswer<Said>(
  client: Pick<ChainClient, 'agree'>,
  call: RpcCall,
  read: Read<Said>,
  timeoutMs: number,
): Promise<Said> {
  const { answers } = await client.agree([call], {
    timeoutMs,
    project: ([answer]) => ({ said: unlessUnreadable(() => read(answer)) ?? null }),
  })
  return read(answers[0])
}

/** As `agreedAnswer`, for what a price can do without: undefined where nothing is known in time; never rejects. */
export function agreedAnswersOf(
  client: Pick<ChainClient, 'agree'>,
  onFailure: (error: unknown) => void,
): <Said>(call: RpcCall, read: Read<Said>, timeoutMs: number) => Promise<Said | undefined> {
  return (call, read, timeoutMs) =>
    agreedAnswer(client, call, read, timeoutMs).catch((error: unknown) => {
      onFailure(error)
      return undefined
    })
}
