import { answerJson } from '@causeway/http'
import { RequestWaits } from '../pricing/requestWaits.ts'

type TimedReply = Parameters<typeof answerJson>[0] & {
  headers(values: Readonly<Record<string, string>>): unknown
}

/**
 * Answers with JSON that is text already, and tells in `Server-Timing` where its time went, also of a refusal. A page
 * of any origin may read it, as it may read the answer.
 */
export function answerTimed(reply: TimedReply, answer: (waits: RequestWaits) => Promise<string>): void {
  const waits = new RequestWaits({ nowMs: () => performance.now() })
  const told = answer(waits).finally(() => {
    waits.release()
    if (reply.sent) return
    reply.headers({ 'server-timing': waits.serverTiming(), 'timing-allow-origin': '*' })
  })
  answerJson(reply, told)
}
