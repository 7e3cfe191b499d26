import type { ChainClient, RpcAnswer, RpcCall } from '@causeway/rpc'

type ParseAnswer<Parsed> = (answer: RpcAnswer | undefined) => Parsed

/**
 * Answer that enough endpoints share after parsing by `read`; members that `read` leaves out may differ.
 * @throws UpstreamUnavailableError, MalformedAnswerError, and errors of `read` for the agreed answer
 */
export async function agreedAnswer<Parsed>(
  client: Pick<ChainClient, 'agree'>,
  call: RpcCall,
  read: ParseAnswer<Parsed>,
  timeoutMs: number,
): Promise<Parsed> {
  const { answers } = await client.agree([call], {
    timeoutMs,
    project: ([answer]) => read(answer),
  })
  return read(answers[0])
}

/** As `agreedAnswer`, for data that prices can do without: undefined if it is not known in time; never rejects. */
export function agreedAnswersOf(
  client: Pick<ChainClient, 'agree'>,
  onFailure: (error: unknown) => void,
): <Parsed>(call: RpcCall, read: ParseAnswer<Parsed>, timeoutMs: number) => Promise<Parsed | undefined> {
  return (call, read, timeoutMs) =>
    agreedAnswer(client, call, read, timeoutMs).catch((error: unknown) => {
      onFailure(error)
      return undefined
    })
}
