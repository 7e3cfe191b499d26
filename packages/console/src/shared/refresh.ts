import { RefusedError, timeText } from './answers.ts'
import { messageOf, setContent } from './elements.ts'

const everyMs = 10_000

/**
 * Reloads a page's data every `everyMs` while the page is visible. The element `asof` shows the time of the shown data, and
 * the error if a reload fails, so that old figures never pass for new ones.
 * @param load fetches the data and resolves to a function that draws it; the function is not called if the user has signed
 * out meanwhile
 * @param onRefused called when the service answers 401: the sign-in is over
 */
export function refreshing(load: () => Promise<() => void>, onRefused: (error: RefusedError) => void) {
  /** Number of the current sign-in. Each start and end raises it, so that data of an earlier sign-in is not drawn. */
  let currentSession = 0
  let timer: number | undefined
  let asOf = ''
  const loadOnce = async () => {
    const session = currentSession
    const draw = await load()
    if (session !== currentSession) return
    draw()
    asOf = timeText(new Date().toISOString())
    setContent('asof', `As of ${asOf}, refreshed every ${everyMs / 1_000} s.`)
  }
  const again = async () => {
    if (document.hidden || timer === undefined) return
    const session = currentSession
    await loadOnce().catch((error: unknown) => {
      if (session !== currentSession) return
      if (error instanceof RefusedError && error.status === 401) onRefused(error)
      else setContent('asof', `Not refreshed: ${messageOf(error)} Shown is what was so at ${asOf}.`)
    })
  }
  const end = () => {
    currentSession += 1
    clearInterval(timer)
    timer = undefined
    setContent('asof')
  }
  document.addEventListener('visibilitychange', () => void again())
  return {
    /** Begins after a sign-in: loads once, then repeatedly. @throws what `load` throws */
    async start(): Promise<void> {
      end()
      await loadOnce()
      timer = setInterval(() => void again(), everyMs)
    },
    /** Reloads now; failures are shown, not thrown. */
    again,
    end,
  }
}
