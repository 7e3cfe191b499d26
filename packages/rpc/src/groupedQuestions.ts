/** Groups questions of many callers into few requests to a node, like a group commit. @source F-87 */
export type QuestionGroups<Question> = {
  /** Number of questions that wait to be sent. */
  waiting(): number
  add(question: Question): void
}

export type QuestionGroupsOptions<Question> = {
  /** Groups that may be in flight at once; meanwhile further questions gather. */
  readonly inFlightMax: number
  /** Delays the sending, so that questions of the same moment share a group. */
  readonly defer: (send: () => void) => void
  /** True for a question that a caller still waits for; others are not sent. Default: all are. */
  readonly isWanted?: (question: Question) => boolean
  /** True for a question that may be asked again after its group failed. Default: the wanted ones. */
  readonly mayAskAgain?: (question: Question) => boolean
  /** Takes the first waiting questions that fit into one request. If it takes none, the first one leaves alone. */
  readonly firstOf: (waiting: readonly Question[]) => readonly Question[]
  /**
   * Answers every question of the group. If it rejects, the halves of the group are sent by themselves, so that one bad
   * question does not take the others' answers.
   */
  readonly send: (group: readonly Question[]) => Promise<void>
  /** Called for a question that failed alone, or may not be asked again. */
  readonly fail: (question: Question, error: unknown) => void
}

export function createQuestionGroups<Question>(
  options: QuestionGroupsOptions<Question>,
): QuestionGroups<Question> {
  const { inFlightMax, defer, isWanted = () => true, firstOf, send, fail } = options
  const { mayAskAgain = isWanted } = options
  let waiting: Question[] = []
  let inFlight = 0
  let isGathering = false

  const ask = async (group: readonly Question[]): Promise<void> => {
    try {
      await send(group)
    } catch (error) {
      const repeated = group.length > 1 ? group.filter(mayAskAgain) : []
      for (const question of group) if (!repeated.includes(question)) fail(question, error)
      await Promise.all(halves(repeated).map(ask))
    }
  }

  const sendGroups = (): void => {
    isGathering = false
    while (inFlight < inFlightMax) {
      waiting = waiting.filter(isWanted)
      if (waiting.length === 0) return
      const first = firstOf(waiting)
      const group = first.length > 0 ? first : waiting.slice(0, 1)
      waiting = waiting.slice(group.length)
      inFlight += 1
      void ask(group).finally(() => {
        inFlight -= 1
        sendGroups()
      })
    }
  }
  return {
    waiting: () => waiting.length,
    add(question) {
      waiting.push(question)
      if (isGathering) return
      isGathering = true
      defer(sendGroups)
    },
  }
}

/** Splits the items in two; of one item or none, only non-empty parts are returned. */
export function halves<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const middle = Math.ceil(items.length / 2)
  return [items.slice(0, middle), items.slice(middle)].filter(({ length }) => length > 0)
}
