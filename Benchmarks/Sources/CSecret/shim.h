/* Nothing for Swift: libsecret's flags come by this module to the program in C. */
