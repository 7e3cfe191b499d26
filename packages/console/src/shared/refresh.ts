import { RefusedError, timeText } from './answers.ts'
import { messageOf, show } from './elements.ts'

const everyMs = 10_000

/**
 * Loads again and again while the page is looked at. The element `asof` says as of when the page stands, and what keeps it
 * from being newer: old figures never pass for new ones.
 * @param load asks for all that the page shows by itself; what it ends with draws that, and is not called once who asked
 * has left
 * @param onRefused told once the service does not know any more who asks
 */
export function refreshing(load: () => Promise<() => void>, onRefused: (error: RefusedError) => void) {
  /** One more with each beginning and end: what an earlier one asked for is not drawn. */
  let turn = 0
  let timer: number | undefined
  let asOf = ''
  const once = async () => {
    const mine = turn
    const draw = await load()
    if (mine !== turn) return
    draw()
    asOf = timeText(new Date().toISOString())
    show('asof', `As of ${asOf}, refreshed every ${everyMs / 1_000} s.`)
  }
  const again = async () => {
    if (document.hidden || timer === undefined) return
    const mine = turn
    await once().catch((error: unknown) => {
      if (mine !== turn) return
      if (error instanceof RefusedError && error.status === 401) onRefused(error)
      else show('asof', `Not refreshed: ${messageOf(error)} Shown is what was so at ${asOf}.`)
    })
  }
  const end = () => {
    turn += 1
    clearInterval(timer)
    timer = undefined
    show('asof')
  }
  document.addEventListener('visibilitychange', () => void again())
  return {
    /** Loads for the first time. @throws what `load` throws */
    async start(): Promise<void> {
      end()
      await once()
      timer = setInterval(() => void again(), everyMs)
    },
    again,
    end,
  }
}
