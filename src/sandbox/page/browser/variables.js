/** A scene in which people, bots and chats are called by variables of a program. */

/** @typedef {import('./scene.js').Scene} Scene */

/** No word of any language, and none of what a saved test defines. @param {string} handle */
export const variableOf = (handle) => `id_${handle}`

/** @param {Scene} scene @returns {Scene} */
export function withVariables(scene) {
  const variable = (/** @type {string | null} */ handle) =>
    handle === null ? null : variableOf(handle)
  return {
    ...scene,
    chats: scene.chats.map((chat) => ({
      ...chat,
      person: variable(chat.person),
      bot: variable(chat.bot),
      members: chat.members.map((handle) => variableOf(handle)),
    })),
    steps: scene.steps.map((step) => {
      if (step.do === 'fault') {
        const { user, certificateOf, ...fault } = step.fault
        const named = {
          ...(user !== undefined && { user: variableOf(user) }),
          ...(certificateOf !== undefined && { certificateOf: variableOf(certificateOf) }),
        }
        return { ...step, fault: { ...fault, ...named } }
      }
      if (!('who' in step)) return step
      const from = 'from' in step ? { from: variableOf(step.from) } : {}
      return { ...step, who: variableOf(step.who), ...from }
    }),
  }
}
